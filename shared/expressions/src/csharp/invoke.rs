//! Calls of functions, of methods and of static methods.

use std::rc::Rc;

use super::frame::Frame;
use super::run::{Done, Run, Stop, thrown};
use super::syntax::{Expr, Type};
use super::value::V;

impl Run<'_> {
    pub(super) fn call_of<'p>(
        &mut self,
        of: &'p Expr,
        types: &'p [Type],
        arguments: &'p [Expr],
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, V<'p>> {
        let mut values = Vec::with_capacity(arguments.len());
        let target = match of {
            Expr::Member {
                of: target,
                name,
                or_null,
            } if self.type_path(of, frame).is_none() => {
                if let Expr::Member { .. } = target.as_ref() {
                    // Checks that an untyped variable is cast before it is used.
                    if self.type_path(target, frame).is_none() {
                        self.check_typed(target, name)?;
                    }
                }
                let target = self.value(target, frame)?;
                if matches!(target, V::Null) && *or_null {
                    return Err(Stop::Null);
                }
                Some((target, name))
            }
            _ => None,
        };
        let mut names = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(argument, frame)?);
            names.push(match argument {
                Expr::Named(name, _) => Some(name.as_str()),
                _ => None,
            });
        }
        let function = match &target {
            Some((target, name)) => self.declared_function(target, name, values.len())?,
            None => Some(match of {
                Expr::Name(name) if frame.get(name).is_none() => {
                    match self.bare_function(name, values.len(), frame)? {
                        Some(function) => function,
                        None => return self.static_name(name, types, values),
                    }
                }
                _ => self.value(of, frame)?,
            }),
        };
        if let Some(function) = function {
            let (value, inner) = self.call_named(&function, &values, &names)?;
            self.give_back(&function, arguments, &inner, frame);
            return Ok(value);
        }
        let Some((target, name)) = target else {
            return Ok(V::Null);
        };
        let out = arguments.iter().find_map(|a| {
            if let Expr::Out(name) = a {
                Some(name)
            } else {
                None
            }
        });
        let result = match &target {
            V::Type(class) => {
                let found = self.static_call(class, name, types, values)?;
                match types.first().and_then(|of| frame.get(&of.name)) {
                    Some(V::Class(class)) if name == "Deserialize" => {
                        self.read_object(&class, &found)?
                    }
                    _ => found,
                }
            }
            _ => self.method(&target, name, types, values)?,
        };
        match (out, result) {
            (Some(out), V::Tuple(items)) => {
                let item = |at: usize| items.get(at).map_or(V::Null, |(_, v)| v.clone());
                if !frame.set(out, item(1)) {
                    frame.declare(out, item(1));
                }
                Ok(item(0))
            }
            (_, result) => Ok(result),
        }
    }

    /// A method of a declared type, or a function that a member holds.
    pub(super) fn declared_function<'p>(
        &mut self,
        target: &V<'p>,
        name: &str,
        arguments: usize,
    ) -> Done<'p, Option<V<'p>>> {
        let found = match target {
            V::Object(object) => match super::object::field(&object.fields, name) {
                Some(function) => Some(function),
                None => self.class_member(&object.class, Some(target), name, arguments)?,
            },
            V::Class(class) => self.class_member(class, None, name, arguments)?,
            _ => None,
        };
        Ok(found.filter(|found| matches!(found, V::Func(_))))
    }

    /// A method that is called by its name alone, within its type.
    pub(super) fn bare_function<'p>(
        &mut self,
        name: &str,
        arguments: usize,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, Option<V<'p>>> {
        let this = frame.get("this");
        match frame.get("$class") {
            Some(V::Class(class)) => {
                let class = match &this {
                    Some(V::Object(object)) => Rc::clone(&object.class),
                    _ => class,
                };
                let found = self.class_member(&class, this.as_ref(), name, arguments)?;
                Ok(found.filter(|found| matches!(found, V::Func(_))))
            }
            _ => Ok(None),
        }
    }

    /// A method of a type that `using static` imports.
    pub(super) fn static_name<'p>(
        &mut self,
        name: &str,
        types: &[Type],
        values: Vec<V<'p>>,
    ) -> Done<'p, V<'p>> {
        for using in self.usings {
            if let Some(path) = using.strip_prefix("static ") {
                let class = path.rsplit_once('.').map_or(path, |(_, class)| class);
                return self.static_call(class, name, types, values);
            }
        }
        self.unknown(name)
    }

    /// What a function has put into its `out` and `ref` parameters.
    pub(super) fn give_back<'p>(
        &self,
        function: &V<'p>,
        arguments: &'p [Expr],
        inner: &Rc<Frame<'p>>,
        frame: &Rc<Frame<'p>>,
    ) {
        let V::Func(closure) = function else {
            return;
        };
        for (argument, parameter) in arguments.iter().zip(closure.parameters) {
            if let Expr::Out(name) | Expr::Ref(name) = argument
                && let Some(value) = inner.get(&parameter.name)
                && !frame.set(name, value.clone())
            {
                frame.declare(name, value);
            }
        }
    }

    /// As the compiler: an `Object` variable has no members of its own until it is cast.
    pub(super) fn check_typed<'p>(&self, target: &'p Expr, name: &str) -> Done<'p> {
        if let Expr::Member {
            of: host,
            name: variable,
            ..
        } = target
            && matches!(host.as_ref(), Expr::Name(n) if n == "Variables" || n == "Variable")
            && self.scope.variable_type(variable) == "Object"
            && self.scope.variable_kind(variable) != crate::Kind::Json
            && !matches!(name, "GetType" | "ToString" | "Equals" | "GetHashCode")
        {
            let message = format!(
                "'object' does not contain a definition for '{name}'; cast it to dynamic first"
            );
            return thrown("CompilationErrorException", message);
        }
        Ok(())
    }
}
