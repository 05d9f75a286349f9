//! Functions of a script: what they are called with, and what is taken apart.

use std::rc::Rc;

use super::frame::Frame;
use super::object::field;
use super::run::{Done, Run, Stop, thrown};
use super::syntax::{Body, Parameter};
use super::value::V;

impl Run<'_> {
    /// Calls a function of the script.
    pub(super) fn call<'p>(&mut self, function: &V<'p>, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
        self.call_named(function, arguments, &[])
            .map(|(value, _)| value)
    }

    /// Calls a function; gives the names of the call, too.
    pub(super) fn call_named<'p>(
        &mut self,
        function: &V<'p>,
        arguments: &[V<'p>],
        names: &[Option<&str>],
    ) -> Done<'p, (V<'p>, Rc<Frame<'p>>)> {
        let V::Func(closure) = function else {
            return thrown(
                "CompilationErrorException",
                format!("a {} cannot be called", function.type_name()),
            );
        };
        self.charge(1)?;
        let frame = Frame::of_call(Rc::clone(&closure.frame));
        self.bind(closure.parameters, arguments, names, &frame)?;
        let body = closure.body;
        let value = self.deeper(|run| match body {
            Body::Value(value) => run.value(value, &frame),
            Body::Block(statements) => match run.block(statements, &frame) {
                Ok(()) => Ok(V::Null),
                Err(Stop::Return(value)) => Ok(value),
                Err(other) => Err(other),
            },
        })?;
        let value = frame.own("$yield").unwrap_or(value);
        Ok((value, frame))
    }

    /// Declares the parameters of a function with what it is called with.
    pub(super) fn bind<'p>(
        &mut self,
        parameters: &'p [Parameter],
        arguments: &[V<'p>],
        names: &[Option<&str>],
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p> {
        for (at, parameter) in parameters.iter().enumerate() {
            let named = names
                .iter()
                .position(|name| *name == Some(parameter.name.as_str()));
            let placed = (names.get(at).copied().flatten().is_none()).then_some(at);
            let value = named.or(placed).and_then(|at| arguments.get(at)).cloned();
            let value = if parameter.is_list && !matches!(value, Some(V::List(_))) {
                V::array(arguments.get(at..).unwrap_or_default().to_vec())
            } else {
                match (value, &parameter.default) {
                    (Some(value), _) => self.declared_as(value, &parameter.of)?,
                    (None, Some(default)) => {
                        let value = self.value(default, frame)?;
                        self.declared_as(value, &parameter.of)?
                    }
                    (None, None) => V::Null,
                }
            };
            frame.declare(&parameter.name, value);
        }
        Ok(())
    }

    /// Declares a name for each part of a tuple, a pair or a record.
    pub(super) fn unpacked<'p>(
        &mut self,
        names: &[String],
        value: &V<'p>,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p> {
        let parts = self.parts(value)?;
        if parts.len() < names.len() {
            return thrown(
                "CompilationErrorException",
                "only a tuple can be taken apart",
            );
        }
        for (name, part) in names.iter().zip(parts) {
            if !frame.set(name, part.clone()) {
                frame.declare(name, part);
            }
        }
        Ok(())
    }

    /// What a value is taken apart into.
    pub(super) fn parts<'p>(&mut self, value: &V<'p>) -> Done<'p, Vec<V<'p>>> {
        Ok(match value {
            V::Tuple(items) => items.iter().map(|(_, item)| item.clone()).collect(),
            V::Map(map) if map.kind == super::value::MapKind::Anonymous => map
                .entries
                .borrow()
                .iter()
                .map(|(_, value)| value.clone())
                .collect(),
            V::Object(object) => {
                let parameters = &object.class.declared.parameters;
                parameters
                    .iter()
                    .filter_map(|p| field(&object.fields, &p.name))
                    .collect()
            }
            _ => Vec::new(),
        })
    }
}
