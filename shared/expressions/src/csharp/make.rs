//! Values made with `new`.

use std::rc::Rc;

use super::frame::Frame;
use super::run::{Done, Run, Stop, thrown};
use super::syntax::{Expr, Item, Type};
use super::value::{ListKind, V};
use super::{operators, statics};

impl Run<'_> {
    pub(super) fn new_array<'p>(
        &mut self,
        of: Option<&'p Type>,
        length: Option<&'p Expr>,
        items: &'p [Expr],
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, V<'p>> {
        let mut values = Vec::new();
        if let Some(length) = length {
            let V::Int(length) = self.value(length, frame)? else {
                return thrown(
                    "CompilationErrorException",
                    "the length of an array is a whole number",
                );
            };
            let Ok(length) = usize::try_from(length) else {
                return thrown(
                    "OverflowException",
                    "Arithmetic operation resulted in an overflow.",
                );
            };
            if !self.budget.allocate(length.saturating_mul(32)) {
                return Err(Stop::Limit);
            }
            values.resize(length, of.map_or(V::Null, operators::default_of));
        }
        for item in items {
            if let Expr::Spread(list) = item {
                let list = self.value(list, frame)?;
                values.extend(self.items(&list)?);
            } else {
                let value = self.value(item, frame)?;
                values.push(match of {
                    Some(of) => self.declared_as(value, of)?,
                    None => value,
                });
            }
        }
        let values = if of.is_none() {
            operators::unified(values)
        } else {
            values
        };
        let is_bytes = of.is_some_and(|of| of.is("byte"));
        let kind = if is_bytes {
            ListKind::Bytes
        } else {
            ListKind::Array
        };
        self.made(V::items_of(kind, values))
    }

    pub(super) fn new_value<'p>(
        &mut self,
        of: &'p Type,
        arguments: &'p [Expr],
        items: &'p [Item],
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, V<'p>> {
        let mut values = Vec::with_capacity(arguments.len());
        let mut names = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(argument, frame)?);
            names.push(match argument {
                Expr::Named(name, _) => Some(name.as_str()),
                _ => None,
            });
        }
        let made = match frame.get(&of.name) {
            Some(V::Class(class)) => self.instance(&class, &values, &names)?,
            _ if !super::import::is_imported(&of.name, self.usings) && !of.is_qualified => {
                let message = format!(
                    "The type or namespace name '{}' could not be found",
                    of.name
                );
                return thrown("CompilationErrorException", message);
            }
            _ => self.construct(of, values)?,
        };
        for item in items {
            match item {
                Item::Value(value) => {
                    let value = self.value(value, frame)?;
                    self.method(&made, "Add", &[], vec![value])?;
                }
                Item::Member(name, value) => {
                    let value = self.value(value, frame)?;
                    match &made {
                        V::Object(object) => {
                            if !super::object::set_field(&object.fields, name, &value) {
                                let message = format!("there is no member '{name}'");
                                return thrown("CompilationErrorException", message);
                            }
                        }
                        made => statics::set_entry(made, V::text(name.as_str()), value),
                    }
                }
                Item::Entry(key, value) => {
                    let key = self.value(key, frame)?;
                    let value = self.value(value, frame)?;
                    statics::set_entry(&made, key, value);
                }
            }
        }
        self.made(made)
    }
}
