//! Values of expressions.

use std::rc::Rc;

use super::fit::is_constant;
use super::frame::{Closure, Frame};
use super::literal::of_literal;
use super::members::or_null;
use super::run::{Done, Run, Stop, thrown};
use super::syntax::{Expr, Part, Type};
use super::value::{MapKind, V};
use super::{import, operators, statics};

impl Run<'_> {
    pub(super) fn value<'p>(
        &mut self,
        expression: &'p Expr,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, V<'p>> {
        self.charge(1)?;
        self.deeper(|run| run.value_here(expression, frame))
    }

    fn value_here<'p>(&mut self, expression: &'p Expr, frame: &Rc<Frame<'p>>) -> Done<'p, V<'p>> {
        match expression {
            Expr::Literal(literal) => Ok(of_literal(literal)),
            Expr::Name(name) => self.name(name, frame),
            Expr::Chain(of) => or_null(self.value(of, frame)),
            Expr::Text(parts) => self.text(parts, frame),
            Expr::Member { of, name, or_null } => {
                self.member_of(expression, of, name, *or_null, frame)
            }
            Expr::Index { of, at, or_null } => {
                let of = self.value(of, frame)?;
                if *or_null && matches!(of, V::Null) {
                    return Err(Stop::Null);
                }
                let at = self.value(at, frame)?;
                self.index(&of, &at)
            }
            Expr::Call {
                of,
                types,
                arguments,
            } => self.call_of(of, types, arguments, frame),
            Expr::New {
                of,
                arguments,
                items,
            } => self.new_value(of, arguments, items, frame),
            Expr::NewArray { of, length, items } => {
                self.new_array(of.as_ref(), length.as_deref(), items, frame)
            }
            Expr::Anonymous(members) => {
                let mut entries = Vec::new();
                for (name, value) in members {
                    entries.push((V::text(name.as_str()), self.value(value, frame)?));
                }
                self.made(V::map(MapKind::Anonymous, entries))
            }
            Expr::List(items) => self.new_array(None, None, items, frame),
            Expr::Unary(operator, value) => {
                let value = self.value(value, frame)?;
                operators::unary(operator, value)
            }
            Expr::Step { of, by, is_prefix } => {
                let before = self.value(of, frame)?;
                let after = self.arithmetic("+", &before, &V::Int(*by))?;
                let after = match &before {
                    V::Char(_) => operators::cast(
                        after,
                        &Type {
                            name: "char".into(),
                            ..Type::default()
                        },
                    )?,
                    _ => after,
                };
                self.assign(of, after.clone(), frame)?;
                Ok(if *is_prefix { after } else { before })
            }
            Expr::Binary(operator, left, right) => self.binary(operator, left, right, frame),
            Expr::Assign(operator, target, value) => {
                self.assignment(operator, target, value, frame)
            }
            Expr::Choice(condition, then, otherwise) => match self.value(condition, frame)? {
                V::Bool(true) => self.value(then, frame),
                V::Bool(false) => self.value(otherwise, frame),
                other => thrown(
                    "CompilationErrorException",
                    format!("a {} is no condition", other.type_name()),
                ),
            },
            Expr::Cast(of, of_value) => {
                let value = self.value(of_value, frame)?;
                if let V::Int(number) = &value
                    && let Some(member) = self.enum_cast(&of.name, i64::from(*number))
                {
                    return Ok(member);
                }
                if let (V::Object(object), Some(V::Class(class))) = (&value, frame.get(&of.name))
                    && !object.class.is(&class.declared.name)
                {
                    let message = format!("Unable to cast object to type '{}'.", of.name);
                    return thrown("InvalidCastException", message);
                }
                if self.is_checked || !self.is_unchecked && is_constant(of_value) {
                    operators::check_range(&value, of)?;
                }
                operators::cast(value, of)
            }
            Expr::As(value, of) => {
                let value = self.value(value, frame)?;
                Ok(if self.fits(&value, of) {
                    value
                } else {
                    V::Null
                })
            }
            Expr::Is(value, pattern) => {
                let value = self.value(value, frame)?;
                self.matches(&value, pattern, frame).map(V::Bool)
            }
            Expr::Switch(value, arms) => {
                let value = self.value(value, frame)?;
                for arm in arms {
                    let inner = Frame::inside(Some(Rc::clone(frame)));
                    let fits = self.matches(&value, &arm.pattern, &inner)?;
                    let fits = fits
                        && match &arm.guard {
                            Some(guard) => matches!(self.value(guard, &inner)?, V::Bool(true)),
                            None => true,
                        };
                    if fits {
                        return self.value(&arm.value, &inner);
                    }
                }
                thrown(
                    "SwitchExpressionException",
                    "Non-exhaustive switch expression failed to match its input.",
                )
            }
            Expr::Lambda(parameters, body) => {
                let closure = Closure {
                    parameters,
                    body,
                    frame: Rc::clone(frame),
                };
                Ok(V::Func(Rc::new(closure)))
            }
            Expr::Tuple(items) => {
                let mut values = Vec::new();
                for (name, value) in items {
                    values.push((name.clone(), self.value(value, frame)?));
                }
                Ok(V::Tuple(Rc::new(values)))
            }
            Expr::TypeOf(of) | Expr::Type(of) => Ok(V::Type(operators::full_name(of))),
            Expr::Default(of) => Ok(match of {
                Some(of) => match self.enum_cast(&of.name, 0) {
                    Some(member) if !of.is_nullable => member,
                    _ => operators::default_of(of),
                },
                None => V::Null,
            }),
            Expr::Query(clauses) => self.run_query(clauses, frame),
            Expr::With(value, members) => {
                let value = self.value(value, frame)?;
                let copy = match &value {
                    V::Object(object) => V::Object(Rc::new(super::object::Object {
                        class: Rc::clone(&object.class),
                        fields: object.fields.clone(),
                    })),
                    V::Map(map) => V::map(map.kind, map.entries.borrow().clone()),
                    other => other.clone(),
                };
                for (name, member) in members {
                    let member = self.value(member, frame)?;
                    match &copy {
                        V::Object(object) => {
                            super::object::set_field(&object.fields, name, &member);
                        }
                        map => statics::set_entry(map, V::text(name.as_str()), member),
                    }
                }
                self.made(copy)
            }
            Expr::Checked(is_checked, value) => {
                let before = (self.is_checked, self.is_unchecked);
                (self.is_checked, self.is_unchecked) = (*is_checked, !*is_checked);
                let done = self.value(value, frame);
                (self.is_checked, self.is_unchecked) = before;
                done
            }
            Expr::Await(value) => {
                let value = self.value(value, frame)?;
                Ok(match statics::entry(&value, "$task") {
                    V::Bool(_) => statics::entry(&value, "Result"),
                    _ => value,
                })
            }
            Expr::Named(_, value) => self.value(value, frame),
            Expr::Ref(name) => self.name(name, frame),
            Expr::Throw(value) => {
                let value = self.value(value, frame)?;
                if let V::Object(object) = &value {
                    let message = super::object::field(&object.fields, "Message");
                    let message = message.unwrap_or(V::Null).shown();
                    return thrown(&object.class.declared.name, message);
                }
                let of = statics::entry(&value, "Type").shown();
                thrown(&of, statics::entry(&value, "Message").shown())
            }
            Expr::FromEnd(_) | Expr::Range(..) | Expr::Spread(_) => self.range(expression, frame),
            Expr::Out(_) => Ok(V::Null),
        }
    }

    fn name<'p>(&mut self, name: &str, frame: &Rc<Frame<'p>>) -> Done<'p, V<'p>> {
        if let Some(value) = frame.get(name) {
            return Ok(value);
        }
        let hosts = [
            "Variables",
            "Variable",
            "Input",
            "Output",
            "Outcome",
            "ExecutionContext",
            "Args",
            "Arguments",
            "Console",
        ];
        if let Some(host) = hosts.iter().find(|host| **host == name) {
            return Ok(V::Host(if *host == "Variable" {
                "Variables"
            } else {
                host
            }));
        }
        let identity = self.scope.identity();
        let id = |id: String| Ok(V::text(id));
        match name {
            "WorkflowInstanceId" => id(identity.instance_id),
            "WorkflowDefinitionId" => id(identity.definition_id),
            "WorkflowDefinitionVersionId" => id(identity.definition_version_id),
            "WorkflowDefinitionVersion" => Ok(V::Int(
                i32::try_from(identity.definition_version).unwrap_or(0),
            )),
            "CorrelationId" => Ok(identity.correlation_id.map_or(V::Null, V::text)),
            "WorkflowInstanceName" => Ok(identity.name.map_or(V::Null, V::text)),
            "LastResult" => Ok(self.last_result()),
            "base" => frame.get("this").map_or_else(
                || thrown("CompilationErrorException", "there is no base"),
                Ok,
            ),
            _ if import::namespace(name).is_some() && import::is_imported(name, self.usings) => {
                Ok(V::Type(name.to_owned()))
            }
            _ => {
                if let Some(this) = frame.get("this").or_else(|| frame.get("$class")) {
                    return self.member(&this, name);
                }
                for using in self.usings {
                    if let Some(path) = using.strip_prefix("static ") {
                        let class = path.rsplit_once('.').map_or(path, |(_, class)| class);
                        if let Ok(found) = statics::static_member(self, class, name) {
                            return Ok(found);
                        }
                    }
                }
                self.unknown(name)
            }
        }
    }

    pub(super) fn unknown<'p>(&self, name: &str) -> Done<'p, V<'p>> {
        thrown(
            "CompilationErrorException",
            format!("The name '{name}' does not exist in the current context"),
        )
    }

    fn text<'p>(&mut self, parts: &'p [Part], frame: &Rc<Frame<'p>>) -> Done<'p, V<'p>> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Value {
                    value,
                    width,
                    format,
                } => {
                    let value = self.value(value, frame)?;
                    let shown = if format.is_empty() {
                        self.text_of(&value)?
                    } else {
                        statics::formatted(&value, format)
                    };
                    let length = i32::try_from(shown.chars().count()).unwrap_or(i32::MAX);
                    let padding =
                        usize::try_from((width.abs() - length).clamp(0, 10_000)).unwrap_or(0);
                    let padding = " ".repeat(padding);
                    if *width > 0 {
                        text.push_str(&padding);
                    }
                    text.push_str(&shown);
                    if *width < 0 {
                        text.push_str(&padding);
                    }
                }
            }
            self.charge(text.len() / 64 + 1)?;
        }
        self.made(V::text(text))
    }

    /// The name that a chain of names ends with, if it is a type's with its namespace.
    pub(super) fn type_path<'p>(
        &self,
        expression: &'p Expr,
        frame: &Rc<Frame<'p>>,
    ) -> Option<&'p str> {
        let Expr::Member { of, name, .. } = expression else {
            return None;
        };
        let root = match of.as_ref() {
            Expr::Name(root) => {
                frame.get(root).is_none()
                    && matches!(root.as_str(), "System" | "Elsa" | "Newtonsoft")
            }
            Expr::Member { of, .. } => {
                let mut at = of.as_ref();
                while let Expr::Member { of, .. } = at {
                    at = of;
                }
                matches!(at, Expr::Name(root) if root == "System" && frame.get(root).is_none())
            }
            _ => false,
        };
        (root && import::namespace(name).is_some()).then_some(name)
    }

    fn member_of<'p>(
        &mut self,
        expression: &'p Expr,
        of: &'p Expr,
        name: &'p str,
        or_null: bool,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, V<'p>> {
        if let Some(path) = self.type_path(expression, frame) {
            return Ok(V::Type(path.to_owned()));
        }
        self.check_typed(of, name)?;
        let value = self.value(of, frame)?;
        if matches!(value, V::Null) {
            if or_null {
                return Err(Stop::Null);
            }
            if name == "HasValue" {
                return Ok(V::Bool(false));
            }
            if name == "Value" {
                return thrown(
                    "InvalidOperationException",
                    "Nullable object must have a value.",
                );
            }
            return thrown(
                "NullReferenceException",
                "Object reference not set to an instance of an object.",
            );
        }
        self.member(&value, name)
    }
}
