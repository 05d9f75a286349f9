//! Values of expressions.

use std::rc::Rc;

use super::literal::of_literal;
use super::members::or_null;
use super::run::{Closure, Done, Frame, Run, Stop, thrown};
use super::syntax::{Expr, Part, Type};
use super::value::{MapKind, V};
use super::{operators, statics};

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
                let after = operators::binary("+", &before, &V::Int(*by))?;
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
            Expr::Cast(of, value) => {
                let value = self.value(value, frame)?;
                operators::cast(value, of)
            }
            Expr::As(value, of) => {
                let value = self.value(value, frame)?;
                Ok(if operators::is_type(&value, of) {
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
            Expr::Default(of) => Ok(of.as_ref().map_or(V::Null, operators::default_of)),
            Expr::Throw(value) => {
                let value = self.value(value, frame)?;
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
            _ if statics::is_type(name) => Ok(V::Type(name.to_owned())),
            _ => thrown(
                "CompilationErrorException",
                format!("The name '{name}' does not exist in the current context"),
            ),
        }
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
                    let shown = statics::formatted(&value, format);
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
    fn type_path<'p>(&self, expression: &'p Expr, frame: &Rc<Frame<'p>>) -> Option<&'p str> {
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
        (root && statics::is_type(name)).then_some(name)
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
        if let Expr::Member {
            of: host,
            name: variable,
            ..
        } = of
            && matches!(host.as_ref(), Expr::Name(n) if n == "Variables" || n == "Variable")
            && self.scope.variable_type(variable) == "Object"
            && !matches!(name, "GetType" | "ToString" | "Equals" | "GetHashCode")
        {
            let message = format!(
                "'object' does not contain a definition for '{name}'; cast it to dynamic first"
            );
            return thrown("CompilationErrorException", message);
        }
        let value = self.value(of, frame)?;
        if matches!(value, V::Null) {
            if or_null {
                return Err(Stop::Null);
            }
            return thrown(
                "NullReferenceException",
                "Object reference not set to an instance of an object.",
            );
        }
        self.member(&value, name)
    }

    fn call_of<'p>(
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
        for argument in arguments {
            values.push(self.value(argument, frame)?);
        }
        let Some((target, name)) = target else {
            let function = match of {
                Expr::Name(name) if frame.get(name).is_none() => {
                    return thrown(
                        "CompilationErrorException",
                        format!("The name '{name}' does not exist in the current context"),
                    );
                }
                _ => self.value(of, frame)?,
            };
            return self.call(&function, &values);
        };
        let out = arguments.iter().find_map(|a| {
            if let Expr::Out(name) = a {
                Some(name)
            } else {
                None
            }
        });
        let result = match &target {
            V::Type(class) => self.static_call(class, name, types, values)?,
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

    fn check_typed<'p>(&self, target: &'p Expr, name: &str) -> Done<'p> {
        if let Expr::Member {
            of: host,
            name: variable,
            ..
        } = target
            && matches!(host.as_ref(), Expr::Name(n) if n == "Variables" || n == "Variable")
            && self.scope.variable_type(variable) == "Object"
            && !matches!(name, "GetType" | "ToString" | "Equals" | "GetHashCode")
        {
            let message = format!(
                "'object' does not contain a definition for '{name}'; cast it to dynamic first"
            );
            return thrown("CompilationErrorException", message);
        }
        Ok(())
    }

    fn binary<'p>(
        &mut self,
        operator: &'static str,
        left: &'p Expr,
        right: &'p Expr,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, V<'p>> {
        let first = self.value(left, frame)?;
        match (operator, &first) {
            ("&&", V::Bool(false)) | ("||", V::Bool(true)) => return Ok(first),
            ("??", V::Null) => return self.value(right, frame),
            ("??", _) => return Ok(first),
            _ => {}
        }
        let second = self.value(right, frame)?;
        let result = operators::binary(operator, &first, &second)?;
        if matches!(result, V::Text(_)) {
            self.made(result)
        } else {
            Ok(result)
        }
    }

    /// A value as a variable of the type holds it: numbers become the type's.
    pub(super) fn declared_as<'p>(&self, value: V<'p>, of: &Type) -> V<'p> {
        match (&value, of.name.as_str()) {
            (V::Int(_) | V::Long(_) | V::Double(_), "double" | "decimal" | "long" | "float")
                if !of.is_array =>
            {
                operators::cast(value.clone(), of).unwrap_or(value)
            }
            _ => value,
        }
    }
}
