//! Assignments, and whether a value fits a pattern.

use std::rc::Rc;

use super::run::{Done, Frame, Run, thrown};
use super::syntax::{Expr, Pattern};
use super::value::V;
use super::{operators, statics};

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
            Expr::Member { of, name, .. } => {
                let of = self.value(of, frame)?;
                if matches!(of, V::Host("Variables")) {
                    return self.set_variable(name, &value);
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
            Pattern::Type(of, name) => {
                let fits = operators::is_type(value, of);
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
