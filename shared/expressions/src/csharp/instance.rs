//! Makes objects of declared types.

use std::cell::RefCell;
use std::rc::Rc;

use super::frame::Frame;
use super::object::{ClassOf, Object, set_field};
use super::operators;
use super::run::{Done, Run, Stop, thrown};
use super::syntax::{Body, ClassKind, ClassMember, Parameter};
use super::value::V;

impl Run<'_> {
    /// `new Name(…)`
    pub(super) fn instance<'p>(
        &mut self,
        class: &Rc<ClassOf<'p>>,
        arguments: &[V<'p>],
        names: &[Option<&str>],
    ) -> Done<'p, V<'p>> {
        if class.declared.kind == ClassKind::Interface {
            let message = "Cannot create an instance of the interface";
            return thrown("CompilationErrorException", message);
        }
        let object = Rc::new(Object {
            class: Rc::clone(class),
            fields: RefCell::new(Vec::new()),
        });
        let this = V::Object(Rc::clone(&object));
        self.build(&object, &this, class, arguments, names)?;
        self.made(this)
    }

    /// An object with the members of JSON that was read.
    pub(super) fn read_object<'p>(
        &mut self,
        class: &Rc<ClassOf<'p>>,
        read: &V<'p>,
    ) -> Done<'p, V<'p>> {
        let V::Map(map) = read else {
            return Ok(read.clone());
        };
        let parameters = &class.declared.parameters;
        let given: Vec<_> = parameters
            .iter()
            .map(|p| super::statics::entry(read, &p.name))
            .collect();
        let made = self.instance(class, &given, &[])?;
        if let V::Object(object) = &made {
            for (key, value) in map.entries.borrow().iter() {
                set_field(&object.fields, &key.shown(), value);
            }
        }
        Ok(made)
    }

    fn build<'p>(
        &mut self,
        object: &Rc<Object<'p>>,
        this: &V<'p>,
        class: &Rc<ClassOf<'p>>,
        arguments: &[V<'p>],
        names: &[Option<&str>],
    ) -> Done<'p> {
        let declared = class.declared;
        let inside = self.inside(class, Some(this));
        let has_parameters = !declared.parameters.is_empty();
        if has_parameters {
            let bound = Frame::inside(Some(Rc::clone(&inside)));
            self.bind(&declared.parameters, arguments, names, &bound)?;
            for parameter in &declared.parameters {
                let value = bound.get(&parameter.name).unwrap_or(V::Null);
                object
                    .fields
                    .borrow_mut()
                    .push((parameter.name.clone(), value));
            }
        }
        let constructors = declared.members.iter().filter_map(|member| match member {
            ClassMember::Constructor {
                parameters,
                first,
                body,
            } => Some((parameters, first, body)),
            _ => None,
        });
        let fits = |parameters: &Vec<Parameter>| {
            let least = parameters
                .iter()
                .filter(|p| p.default.is_none() && !p.is_list)
                .count();
            let is_open = parameters.iter().any(|p| p.is_list);
            arguments.len() >= least && (is_open || arguments.len() <= parameters.len())
        };
        let chosen = constructors
            .clone()
            .find(|(parameters, ..)| fits(parameters));
        if chosen.is_none()
            && !has_parameters
            && (!arguments.is_empty() && !class.is_exception() || constructors.count() > 0)
        {
            let message = format!(
                "'{}' does not contain a constructor that takes these arguments",
                declared.name
            );
            return thrown("CompilationErrorException", message);
        }
        let bound = Frame::inside(Some(Rc::clone(&inside)));
        if let Some((parameters, ..)) = chosen {
            self.bind(parameters, arguments, names, &bound)?;
        }
        let given: &'p [super::syntax::Expr] = match chosen {
            Some((_, first, _)) => &first.1,
            None => &declared.base_arguments,
        };
        let mut values = Vec::new();
        for value in given {
            values.push(self.value(value, &bound)?);
        }
        let to_itself = chosen.is_some_and(|(_, first, _)| first.0 == "this");
        if to_itself {
            self.deeper(|run| run.build(object, this, class, &values, &[]))?;
        } else {
            if let Some(base) = &class.base {
                self.deeper(|run| run.build(object, this, base, &values, &[]))?;
            } else if class.is_exception() {
                let message = values.first().cloned().unwrap_or(V::text("Exception"));
                object
                    .fields
                    .borrow_mut()
                    .push(("Message".to_owned(), message));
            }
            for member in &declared.members {
                let ClassMember::Field {
                    name,
                    of,
                    value,
                    is_static: false,
                    ..
                } = member
                else {
                    continue;
                };
                let value = match value {
                    Some(value) => {
                        let value = self.value(value, &inside)?;
                        self.declared_as(value, of)?
                    }
                    None => operators::default_of(of),
                };
                if !set_field(&object.fields, name, &value) {
                    object.fields.borrow_mut().push((name.clone(), value));
                }
            }
        }
        if let Some((_, _, body)) = chosen {
            match body {
                Body::Value(value) => drop(self.value(value, &bound)?),
                Body::Block(statements) => match self.deeper(|run| run.block(statements, &bound)) {
                    Ok(()) | Err(Stop::Return(_)) => {}
                    Err(other) => return Err(other),
                },
            }
        }
        Ok(())
    }
}
