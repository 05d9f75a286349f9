//! Assignments, and whether a value fits a pattern.

use std::rc::Rc;

use super::frame::Frame;
use super::run::{Done, Run, thrown};
use super::syntax::{Expr, Pattern};
use super::value::{MapKind, V};
use super::{object, operators, statics};

impl Run<'_> {
    pub(super) fn assignment<'p>(
        &mut self,
        operator: &'static str,
        target: &'p Expr,
        value: &'p Expr,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, V<'p>> {
        let value = if operator == "=" {
            self.value(value, frame)?
        } else {
            let before = self.value(target, frame)?;
            if operator == "??=" && !matches!(before, V::Null) {
                return Ok(before);
            }
            let by = self.value(value, frame)?;
            match operator.strip_suffix('=') {
                Some("??") | None => by,
                Some(operator) => {
                    let made = operators::binary(operator, &before, &by)?;
                    self.made(made)?
                }
            }
        };
        self.assign(target, value.clone(), frame)?;
        Ok(value)
    }

    pub(super) fn assign<'p>(
        &mut self,
        target: &'p Expr,
        value: V<'p>,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p> {
        match target {
            Expr::Name(name) if name == "CorrelationId" => {
                self.scope
                    .set_correlation_id(Some(value.shown()).filter(|v| !v.is_empty()));
                Ok(())
            }
            Expr::Name(name) if name == "WorkflowInstanceName" => {
                self.scope.set_name(Some(value.shown()));
                Ok(())
            }
            Expr::Name(name) if name == "_" => Ok(()),
            Expr::Name(name) => {
                if frame.set(name, value) {
                    return Ok(());
                }
                thrown(
                    "CompilationErrorException",
                    format!("The name '{name}' does not exist in the current context"),
                )
            }
            Expr::Tuple(targets) => {
                let parts = self.parts(&value)?;
                for ((_, target), part) in targets.iter().zip(parts) {
                    self.assign(target, part, frame)?;
                }
                Ok(())
            }
            Expr::Member { of, name, .. } => {
                let of = self.value(of, frame)?;
                match &of {
                    V::Host("Variables") => {
                        self.check_assigned(name, &value)?;
                        return self.set_variable(name, &value);
                    }
                    V::Object(object) if object::set_field(&object.fields, name, &value) => {
                        return Ok(());
                    }
                    V::Class(class) if object::set_field(&class.statics, name, &value) => {
                        return Ok(());
                    }
                    V::Builder(builder) if name == "Length" => {
                        let length = usize::try_from(operators::as_long(&value)).unwrap_or(0);
                        let kept: String = builder.borrow().chars().take(length).collect();
                        *builder.borrow_mut() = kept;
                        return Ok(());
                    }
                    V::Map(map) if map.kind != MapKind::Anonymous => {}
                    V::Null => {
                        return thrown(
                            "NullReferenceException",
                            "Object reference not set to an instance of an object.",
                        );
                    }
                    other => {
                        let message =
                            format!("'{}.{name}' cannot be assigned to", other.type_name());
                        return thrown("CompilationErrorException", message);
                    }
                }
                statics::set_entry(&of, V::text(name.as_str()), value);
                Ok(())
            }
            Expr::Index { of, at, .. } => {
                let of = self.value(of, frame)?;
                let at = self.value(at, frame)?;
                self.set_index(&of, at, value)
            }
            _ => thrown(
                "CompilationErrorException",
                "The left-hand side of an assignment must be a variable",
            ),
        }
    }

    /// Whether a value is of a type, declared ones included.
    pub(super) fn fits<'p>(&self, value: &V<'p>, of: &super::syntax::Type) -> bool {
        match value {
            V::Object(object) => {
                object.class.is(&of.name) || matches!(of.name.as_str(), "object" | "dynamic")
            }
            V::Enum(member) => &*member.class == of.name.as_str() || of.name == "object",
            value => operators::is_type(value, of),
        }
    }

    /// A variable with a type takes values of that type alone.
    fn check_assigned<'p>(&self, name: &str, value: &V<'p>) -> Done<'p> {
        let fits = match self.scope.variable_type(name) {
            "Int32" => matches!(value, V::Int(_) | V::Char(_)),
            "String" => matches!(value, V::Text(_) | V::Null),
            "Boolean" => matches!(value, V::Bool(_)),
            "Int64" => matches!(value, V::Int(_) | V::Long(_) | V::Char(_)),
            "Double" => operators::as_double(value).is_some() && !matches!(value, V::Decimal(_)),
            "Decimal" => matches!(value, V::Int(_) | V::Long(_) | V::Char(_) | V::Decimal(_)),
            _ => true,
        };
        if fits {
            return Ok(());
        }
        let message = format!("Cannot implicitly convert type '{}'", value.type_name());
        thrown("CompilationErrorException", message)
    }

    pub(super) fn matches<'p>(
        &mut self,
        value: &V<'p>,
        pattern: &'p Pattern,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, bool> {
        Ok(match pattern {
            Pattern::Constant(constant) => {
                let constant = self.value(constant, frame)?;
                operators::equal(value, &constant)
            }
            Pattern::Relation(operator, than) => {
                let than = self.value(than, frame)?;
                matches!(operators::binary(operator, value, &than)?, V::Bool(true))
            }
            Pattern::Type(of, name) if name.is_none() && frame.get(&of.name).is_some() => {
                match (frame.get(&of.name), value) {
                    (Some(V::Class(class)), V::Object(object)) => {
                        object.class.is(&class.declared.name)
                    }
                    (Some(V::Class(_)) | None, _) => false,
                    (Some(constant), _) => operators::equal(value, &constant),
                }
            }
            Pattern::Members(of, members, name) => {
                if matches!(value, V::Null) || of.as_ref().is_some_and(|of| !self.fits(value, of)) {
                    return Ok(false);
                }
                for (path, pattern) in members {
                    let mut inner = value.clone();
                    for part in path {
                        if matches!(inner, V::Null) {
                            return Ok(false);
                        }
                        inner = self.member(&inner, part)?;
                    }
                    if !self.matches(&inner, pattern, frame)? {
                        return Ok(false);
                    }
                }
                if let Some(name) = name {
                    frame.declare(name, value.clone());
                }
                true
            }
            Pattern::Tuple(patterns) => {
                let parts = self.parts(value)?;
                if parts.len() != patterns.len() {
                    return Ok(false);
                }
                for (part, pattern) in parts.iter().zip(patterns) {
                    if !self.matches(part, pattern, frame)? {
                        return Ok(false);
                    }
                }
                true
            }
            Pattern::List(patterns) => {
                if !matches!(value, V::List(_) | V::Text(_)) {
                    return Ok(false);
                }
                let items = self.items(value)?;
                let rest = patterns.iter().position(Option::is_none);
                let least = patterns.iter().flatten().count();
                if items.len() < least || rest.is_none() && items.len() > least {
                    return Ok(false);
                }
                let skipped = items.len() - least;
                for (at, pattern) in patterns.iter().enumerate() {
                    let at = match rest {
                        Some(rest) if at > rest => at - 1 + skipped,
                        _ => at,
                    };
                    if let (Some(pattern), Some(item)) = (pattern, items.get(at))
                        && !self.matches(item, pattern, frame)?
                    {
                        return Ok(false);
                    }
                }
                true
            }
            Pattern::Type(of, name) => {
                let fits = self.fits(value, of);
                if let (true, Some(name)) = (fits, name) {
                    frame.declare(name, value.clone());
                }
                fits
            }
            Pattern::Any(name) => {
                if let Some(name) = name {
                    frame.declare(name, value.clone());
                }
                true
            }
            Pattern::And(first, second) => {
                self.matches(value, first, frame)? && self.matches(value, second, frame)?
            }
            Pattern::Or(first, second) => {
                self.matches(value, first, frame)? || self.matches(value, second, frame)?
            }
            Pattern::Not(inner) => !self.matches(value, inner, frame)?,
        })
    }

    /// `^1` is a tuple named `^`; `a..b` one of two ends.
    pub(super) fn range<'p>(
        &mut self,
        expression: &'p Expr,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p, V<'p>> {
        match expression {
            Expr::FromEnd(value) => {
                let value = self.value(value, frame)?;
                Ok(V::Tuple(Rc::new(vec![(Some("^".into()), value)])))
            }
            Expr::Range(start, end) => {
                let mut ends = Vec::new();
                for (name, end) in [("start", start), ("end", end)] {
                    let value = match end {
                        Some(end) => self.value(end, frame)?,
                        None => V::Null,
                    };
                    ends.push((Some(name.to_owned()), value));
                }
                Ok(V::Tuple(Rc::new(ends)))
            }
            _ => thrown("CompilationErrorException", "a spread stands in a list"),
        }
    }
}
