//! Comparisons, with the special values `empty` and `blank`, which are not values but questions.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::expression::{Comparison, Expression};
use super::value::{compare, contains, equal, is_blank, is_empty, to_text};
use crate::EvaluationError;

type Evaluate<'e, 'a> = dyn Fn(&'a Expression) -> Result<Cow<'a, Value>, EvaluationError> + 'e;

/// What it takes to look at all of a value, in operations.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text.len() / 16 + 1,
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + 1,
        Value::Object(map) => map.values().map(weight).sum::<usize>() + 1,
    }
}

/// Whether a comparison holds.
pub(super) fn holds<'a>(
    comparison: Comparison,
    left: &'a Expression,
    right: &'a Expression,
    evaluate: &Evaluate<'_, 'a>,
) -> Result<bool, EvaluationError> {
    if matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
        let is_equal = match (left, right) {
            (Expression::Empty, Expression::Empty) | (Expression::Blank, Expression::Blank) => true,
            (Expression::Empty, other) | (other, Expression::Empty) => is_empty(&*evaluate(other)?),
            (Expression::Blank, other) | (other, Expression::Blank) => is_blank(&*evaluate(other)?),
            _ => equal(&*evaluate(left)?, &*evaluate(right)?),
        };
        return Ok(is_equal == (comparison == Comparison::Equal));
    }
    let (left, right) = (evaluate(left)?, evaluate(right)?);
    let order = || compare(&left, &right);
    Ok(match comparison {
        Comparison::Less => order() == Some(Ordering::Less),
        Comparison::LessOrEqual => order().is_some_and(Ordering::is_le),
        Comparison::Greater => order() == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
        Comparison::Contains => contains(&left, &right),
        Comparison::StartsWith => to_text(&left).starts_with(&*to_text(&right)),
        Comparison::EndsWith => to_text(&left).ends_with(&*to_text(&right)),
        Comparison::Equal | Comparison::NotEqual => false,
    })
}
