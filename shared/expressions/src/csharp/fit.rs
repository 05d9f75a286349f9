//! Arithmetic within the range of its types, and values as names of a type hold them.

use std::rc::Rc;

use super::frame::Frame;
use super::operators;
use super::run::{Done, Run, thrown};
use super::syntax::{Expr, Type};
use super::value::{ListKind, V};

impl Run<'_> {
    pub(super) fn binary<'p>(
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
        let is_constant = !self.is_unchecked && is_constant(left) && is_constant(right);
        let is_constant = self.is_checked || is_constant;
        if is_constant && !operators::fits_number(operator, &first, &second) {
            let of = if self.is_checked {
                "OverflowException"
            } else {
                "CompilationErrorException"
            };
            return thrown(of, "Arithmetic operation resulted in an overflow.");
        }
        let result = match (operator, &first, &second) {
            ("+", V::Text(_), V::Object(_) | V::Enum(_))
            | ("+", V::Object(_) | V::Enum(_), V::Text(_)) => {
                V::text(self.text_of(&first)? + &self.text_of(&second)?)
            }
            _ => operators::binary(operator, &first, &second)?,
        };
        if matches!(result, V::Text(_)) {
            self.made(result)
        } else {
            Ok(result)
        }
    }

    pub(super) fn arithmetic<'p>(
        &self,
        operator: &str,
        left: &V<'p>,
        right: &V<'p>,
    ) -> Done<'p, V<'p>> {
        if self.is_checked && !operators::fits_number(operator, left, right) {
            return thrown(
                "OverflowException",
                "Arithmetic operation resulted in an overflow.",
            );
        }
        operators::binary(operator, left, right)
    }

    /// A value as a name of the type holds it: numbers become the type's, and what does not fit is refused.
    pub(super) fn declared_as<'p>(&mut self, value: V<'p>, of: &Type) -> Done<'p, V<'p>> {
        let is_whole = matches!(value, V::Int(_) | V::Long(_) | V::Char(_));
        let wrong = |value: &V<'p>| {
            let message = format!(
                "Cannot implicitly convert type '{}' to '{}'",
                value.type_name(),
                of.name
            );
            thrown("CompilationErrorException", message)
        };
        if of.is_array {
            return Ok(match &value {
                V::List(list) if of.is("byte") || of.name == "byte" => {
                    V::items_of(ListKind::Bytes, list.items.borrow().clone())
                }
                _ => value,
            });
        }
        match (of.name.as_str(), &value) {
            ("", _) => Ok(value),
            (
                "int" | "long" | "double" | "decimal" | "float" | "bool" | "char" | "byte"
                | "short" | "uint",
                V::Null,
            ) if !of.is_nullable => Ok(operators::default_of(of)),
            (_, V::Null) => Ok(value),
            ("long" | "uint" | "ulong", V::Int(_) | V::Long(_) | V::Char(_))
            | ("float", V::Int(_) | V::Long(_) | V::Single(_))
            | ("double", V::Int(_) | V::Long(_) | V::Single(_) | V::Char(_))
            | ("decimal", V::Int(_) | V::Long(_)) => operators::cast(value, of),
            ("int" | "short" | "byte" | "sbyte" | "ushort", V::Int(_) | V::Char(_)) => {
                operators::check_range(&value, of)?;
                operators::cast(value, of)
            }
            ("double", V::Double(_)) | ("decimal", V::Decimal(_)) => Ok(value),
            ("int" | "short" | "byte" | "float" | "long" | "decimal" | "double", _)
                if is_whole || operators::as_double(&value).is_some() =>
            {
                wrong(&value)
            }
            ("int" | "long" | "double" | "decimal" | "float" | "bool" | "char" | "string", _)
                if !operators::is_type(&value, of) && !matches!(value, V::Host(_) | V::Map(_)) =>
            {
                wrong(&value)
            }
            ("HashSet" | "ISet", V::List(list)) if list.kind != ListKind::Set => {
                let items = list.items.borrow().clone();
                self.set_of(items, false)
            }
            ("List", V::List(list)) if list.kind == ListKind::Array => {
                Ok(V::list(list.items.borrow().clone()))
            }
            _ => Ok(value),
        }
    }
}

/// Whether the compiler works an expression out.
pub(super) fn is_constant(expression: &Expr) -> bool {
    match expression {
        Expr::Literal(_) => true,
        Expr::Unary(_, inner) => is_constant(inner),
        Expr::Binary(_, left, right) => is_constant(left) && is_constant(right),
        Expr::Member { of, name, .. } => {
            matches!(of.as_ref(), Expr::Type(_)) && matches!(name.as_str(), "MaxValue" | "MinValue")
        }
        _ => false,
    }
}
