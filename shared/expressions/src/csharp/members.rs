//! Members and indexes of values.

use super::operators;
use super::run::{Done, Run, Stop, thrown};
use super::statics;
use super::syntax::Type;
use super::value::{MapKind, V};
use crate::Kind;

pub(super) fn no_member<'p, T>(value: &V<'p>, name: &str) -> Done<'p, T> {
    let message = format!(
        "'{}' does not contain a definition for '{name}'",
        value.type_name()
    );
    thrown("RuntimeBinderException", message)
}

pub(super) fn count<'p>(length: usize) -> V<'p> {
    V::Int(i32::try_from(length).unwrap_or(i32::MAX))
}

/// The value of a chain behind a `?.`.
pub(super) fn or_null<'p>(done: Done<'p, V<'p>>) -> Done<'p, V<'p>> {
    match done {
        Err(Stop::Null) => Ok(V::Null),
        other => other,
    }
}

impl Run<'_> {
    pub(super) fn member<'p>(&mut self, value: &V<'p>, name: &str) -> Done<'p, V<'p>> {
        let found = match value {
            V::Host("Variables") => return self.variable(name),
            V::Object(object) => match super::object::field(&object.fields, name) {
                Some(value) => Some(value),
                None => self.class_member(&object.class, Some(value), name, 0)?,
            },
            V::Class(class) => match name {
                "Name" => Some(V::text(class.declared.name.as_str())),
                _ => self.class_member(class, None, name, 0)?,
            },
            V::Host("Output") if name == "LastResult" => return Ok(self.last_result()),
            V::Host(host) => match (*host, name) {
                ("ExecutionContext", "ExpressionExecutionContext") | ("Console", "Out") => {
                    Some(V::Host("Console"))
                }
                ("Args" | "Arguments", "Count") => Some(count(self.scope.arguments().len())),
                ("Input", _) => return self.input(name),
                _ => None,
            },
            V::Text(text) if name == "Length" => Some(count(text.encode_utf16().count())),
            V::List(list) => self.list_member(list, name),
            V::Uri(address) => super::address::uri_member(address, name),
            V::Element(value) => super::element::element_member(value, name),
            V::Builder(builder) => super::builder::builder_member(builder, name),
            V::Guid(_) if name == "Variant" => Some(V::Int(8)),
            V::Map(map) => {
                let entry = || {
                    let entries = map.entries.borrow();
                    entries
                        .iter()
                        .find(|(key, _)| key.shown() == name)
                        .map(|(_, value)| value.clone())
                };
                match (map.kind, name) {
                    (MapKind::Dictionary | MapKind::Node, "Count") => {
                        Some(count(map.entries.borrow().len()))
                    }
                    (MapKind::Dictionary | MapKind::Expando, "Keys") if entry().is_none() => {
                        Some(V::list(
                            map.entries
                                .borrow()
                                .iter()
                                .map(|(key, _)| key.clone())
                                .collect(),
                        ))
                    }
                    (MapKind::Dictionary | MapKind::Expando, "Values") if entry().is_none() => {
                        Some(V::list(
                            map.entries
                                .borrow()
                                .iter()
                                .map(|(_, value)| value.clone())
                                .collect(),
                        ))
                    }
                    (MapKind::Expando, "Count") if entry().is_none() => {
                        Some(count(map.entries.borrow().len()))
                    }
                    (MapKind::Dictionary, _) => None,
                    _ => entry(),
                }
            }
            V::Tuple(items) => {
                let named = items
                    .iter()
                    .find(|(known, _)| known.as_deref() == Some(name));
                let numbered = name
                    .strip_prefix("Item")
                    .and_then(|n| n.parse::<usize>().ok());
                let numbered = numbered.and_then(|n| items.get(n.checked_sub(1)?));
                named.or(numbered).map(|(_, value)| value.clone())
            }
            V::Date(_) | V::Span(_) => super::time::time_member(value, name)
                .or_else(|| matches!(name, "HasValue").then_some(V::Bool(true)))
                .or_else(|| matches!(name, "Value").then(|| value.clone())),
            V::Type(class) => return statics::static_member(self, class, name),
            V::Int(_)
            | V::Long(_)
            | V::Single(_)
            | V::Double(_)
            | V::Decimal(_)
            | V::Char(_)
            | V::Bool(_) => match name {
                "HasValue" => Some(V::Bool(true)),
                "Value" => Some(value.clone()),
                _ => None,
            },
            _ => None,
        };
        match found {
            Some(found) => Ok(found),
            None => no_member(value, name),
        }
    }

    /// `Output.LastResult`, as the name alone.
    pub(super) fn last_result<'p>(&self) -> V<'p> {
        V::from_json(
            &self.scope.last_result().unwrap_or_default(),
            MapKind::Expando,
        )
    }

    /// A variable of the workflow as its type has it.
    pub(super) fn variable<'p>(&mut self, name: &str) -> Done<'p, V<'p>> {
        let Some(value) = self.scope.variable(name) else {
            let message = format!("'VariablesWrapper' does not contain a definition for '{name}'");
            return thrown("CompilationErrorException", message);
        };
        let of = self.scope.variable_type(name);
        Ok(statics::typed(&value, of, self.scope.variable_kind(name)))
    }

    fn input<'p>(&mut self, name: &str) -> Done<'p, V<'p>> {
        match self.scope.typed_input(name) {
            Some(Ok((value, kind, of))) => return Ok(statics::typed(&value, of, kind)),
            Some(Err(message)) => return thrown("TypeConversionException", message),
            None => {}
        }
        let value = self.scope.input(name).unwrap_or_default();
        let kind = self.scope.input_kind(name);
        Ok(statics::typed(
            &value,
            match kind {
                Kind::Plain
                | Kind::Json
                | Kind::Dictionary
                | Kind::Node
                | Kind::ListOfJson
                | Kind::Texts => "",
                _ => "Typed",
            },
            kind,
        ))
    }

    pub(super) fn set_variable<'p>(&mut self, name: &str, value: &V<'p>) -> Done<'p> {
        let json = self.plain_value(value.clone(), 0)?.to_json(false, 0);
        if !self.budget.emit(json.to_string().len()) {
            return Err(Stop::Limit);
        }
        self.scope.set_variable(name, json);
        Ok(())
    }

    /// Methods of what the workflow lends to scripts.
    pub(super) fn host_method<'p>(
        &mut self,
        host: &str,
        name: &str,
        types: &[Type],
        arguments: &[V<'p>],
    ) -> Done<'p, V<'p>> {
        let text = |at: usize| arguments.get(at).map(V::shown).unwrap_or_default();
        let typed = |run: &Self, value: serde_json::Value, kind: Kind| match types.first() {
            Some(of) => {
                let value = V::from_json(
                    &value,
                    if of.is("IDictionary") {
                        MapKind::Dictionary
                    } else {
                        MapKind::Expando
                    },
                );
                let _ = run;
                statics::convert(value, of)
            }
            None => Ok(statics::typed(&value, "", kind)),
        };
        match (host, name) {
            ("Variables", "Get") | ("ExecutionContext", "GetVariable") => {
                let name = text(0);
                let kind = self.scope.variable_kind(&name);
                match (types.is_empty(), self.scope.variable(&name)) {
                    (true, Some(_)) => self.variable(&name),
                    (false, Some(value)) => typed(self, value, kind),
                    (_, None) => Ok(types.first().map_or(V::Null, operators::default_of)),
                }
            }
            ("Variables", "Set") | ("ExecutionContext", "SetVariable") => {
                let value = arguments.get(1).cloned().unwrap_or(V::Null);
                self.set_variable(&text(0), &value)?;
                Ok(V::Null)
            }
            ("Input", "Get") if types.is_empty() => thrown(
                "CompilationErrorException",
                "The type arguments for method 'Get' cannot be inferred from the usage",
            ),
            ("Input", "Get") => match self.scope.input(&text(0)) {
                Some(value) => typed(self, value, self.scope.input_kind(&text(0))),
                None => Ok(types.first().map_or(V::Null, operators::default_of)),
            },
            ("Output", "From") => {
                let output = arguments.get(1).map(V::shown);
                let value = self
                    .scope
                    .output_from(&text(0), output.as_deref())
                    .unwrap_or_default();
                typed(self, value, Kind::Plain)
            }
            ("Args" | "Arguments", "Get") => {
                let found = self
                    .scope
                    .arguments()
                    .into_iter()
                    .find(|(known, _)| *known == text(0));
                match found {
                    Some((_, value)) => typed(self, value, Kind::Plain),
                    None => Ok(types.first().map_or(V::Null, operators::default_of)),
                }
            }
            ("Outcome", "Set") => {
                let names = match arguments {
                    [V::List(list)] => list.items.borrow().iter().map(V::shown).collect(),
                    names => names.iter().map(V::shown).collect(),
                };
                self.scope.set_outcomes(names);
                Ok(V::Null)
            }
            ("Console", _) => Ok(V::Null),
            _ => no_member(&V::text(host), name),
        }
    }

    pub(super) fn index<'p>(&mut self, of: &V<'p>, at: &V<'p>) -> Done<'p, V<'p>> {
        let outside = || {
            thrown(
                "IndexOutOfRangeException",
                "Index was outside the bounds of the array.",
            )
        };
        match (of, at) {
            (V::Null, _) => thrown(
                "NullReferenceException",
                "Object reference not set to an instance of an object.",
            ),
            (V::Text(_) | V::List(_), V::Tuple(ends)) => self.part(of, ends),
            (V::List(list), _) => {
                let items = list.items.borrow();
                // A group of a match, by its name.
                if let V::Text(name) = at {
                    let named = |item: &&V<'p>| statics::entry(item, "Name").shown() == **name;
                    let found = items.iter().find(named).cloned();
                    return Ok(found.unwrap_or_else(|| {
                        V::anonymous(vec![("Success", V::Bool(false)), ("Value", V::text(""))])
                    }));
                }
                let found = place(at).and_then(|at| items.get(at).cloned());
                found.map_or_else(outside, Ok)
            }
            (V::Text(text), _) => {
                let found = place(at).and_then(|at| text.chars().nth(at));
                found.map_or_else(outside, |c| Ok(V::Char(c)))
            }
            (V::Map(map), _) => {
                let entries = map.entries.borrow();
                match entries.iter().find(|(key, _)| operators::equal(key, at)) {
                    Some((_, value)) => Ok(value.clone()),
                    None if map.kind == MapKind::Node => Ok(V::Null),
                    None => {
                        let message = format!(
                            "The given key '{}' was not present in the dictionary.",
                            at.shown()
                        );
                        thrown("KeyNotFoundException", message)
                    }
                }
            }
            (V::Tuple(items), V::Int(_)) => {
                let found = place(at).and_then(|at| items.get(at));
                found.map_or_else(outside, |(_, value)| Ok(value.clone()))
            }
            (V::Element(value), _) => super::element::element_item(value, at),
            (V::Builder(builder), _) => {
                let found = place(at).and_then(|at| builder.borrow().chars().nth(at));
                found.map_or_else(outside, |c| Ok(V::Char(c)))
            }
            (V::Host("Variables"), _) => self.variable(&at.shown()),
            _ => thrown(
                "CompilationErrorException",
                format!("Cannot apply indexing to a {}", of.type_name()),
            ),
        }
    }

    fn part<'p>(&mut self, of: &V<'p>, ends: &[(Option<String>, V<'p>)]) -> Done<'p, V<'p>> {
        let items = self.items(of)?;
        let outside = || thrown("ArgumentOutOfRangeException", "Index was out of range.");
        let at = |value: &V<'p>, default: usize| match value {
            V::Null => Some(default),
            V::Tuple(from_end) => items.len().checked_sub(place(&from_end.first()?.1)?),
            value => place(value),
        };
        if let [(Some(mark), value)] = ends
            && mark == "^"
        {
            let found =
                place(value).and_then(|back| items.get(items.len().checked_sub(back)?).cloned());
            return found.map_or_else(outside, Ok);
        }
        let start = ends.first().and_then(|(_, value)| at(value, 0));
        let end = ends.get(1).and_then(|(_, value)| at(value, items.len()));
        let range = start
            .zip(end)
            .and_then(|(start, end)| items.get(start..end));
        let Some(range) = range else {
            return outside();
        };
        match of {
            V::Text(_) => Ok(V::text(range.iter().map(V::shown).collect::<String>())),
            _ => Ok(V::array(range.to_vec())),
        }
    }

    pub(super) fn set_index<'p>(&mut self, of: &V<'p>, at: V<'p>, value: V<'p>) -> Done<'p> {
        match of {
            V::List(list) => {
                let mut items = list.items.borrow_mut();
                let item = place(&at).and_then(|at| items.get_mut(at));
                let Some(item) = item else {
                    return thrown(
                        "IndexOutOfRangeException",
                        "Index was outside the bounds of the array.",
                    );
                };
                *item = value;
                Ok(())
            }
            V::Map(_) => {
                statics::set_entry(of, at, value);
                self.charge(1)
            }
            _ => thrown(
                "CompilationErrorException",
                format!("Cannot apply indexing to a {}", of.type_name()),
            ),
        }
    }
}

fn place(at: &V<'_>) -> Option<usize> {
    match at {
        V::Int(at) => usize::try_from(*at).ok(),
        V::Long(at) => usize::try_from(*at).ok(),
        _ => None,
    }
}
