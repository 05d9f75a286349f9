//! The filters: those of Fluid, and Elsa's `base64` and `keys`.

mod date;
mod encoding;
mod list;
mod number;
mod search;
mod text;

use std::borrow::Cow;

use serde_json::Value;

use super::element::element;
use super::value::{Amount, to_text};
use super::work::Work;
use crate::EvaluationError;

/// A filter: from a value and arguments to a value.
pub(super) type Filter = fn(&Input<'_>) -> Result<Value, EvaluationError>;

/// What a filter works on.
pub(super) struct Input<'a> {
    pub(super) value: &'a Value,
    pub(super) arguments: &'a [Cow<'a, Value>],
    pub(super) named: &'a [(&'a str, Cow<'a, Value>)],
    pub(super) work: &'a Work,
}

/// The filter of that name.
pub(super) fn find(name: &str) -> Option<Filter> {
    let groups = [
        text::FILTERS,
        search::FILTERS,
        list::FILTERS,
        number::FILTERS,
    ];
    let others = [date::FILTERS, encoding::FILTERS];
    let mut all = groups.into_iter().chain(others).flatten();
    all.find(|(known, _)| *known == name)
        .map(|(_, filter)| *filter)
}

impl<'a> Input<'a> {
    /// The value as text.
    fn text(&self) -> Cow<'a, str> {
        to_text(self.value)
    }

    /// The value as a number, or zero. An element of JSON cannot be read as one.
    fn counted(&self) -> Result<Amount, EvaluationError> {
        match element(self.value) {
            Some(_) => Err(failure("an element of JSON is no number")),
            None => Ok(Amount::or_zero(self.value)),
        }
    }

    /// The argument at `index`, or nil.
    fn argument(&self, index: usize) -> &Value {
        self.arguments
            .get(index)
            .map_or(&Value::Null, |value| value)
    }

    /// Whether there is an argument at `index` that is not nil.
    fn has_argument(&self, index: usize) -> bool {
        !self.argument(index).is_null()
    }

    /// The argument at `index` as text; nil is no text.
    fn text_argument(&self, index: usize) -> Cow<'_, str> {
        to_text(self.argument(index))
    }

    /// The items of a list; any other value is a list of its own, and nil an empty one.
    fn items(&self) -> &'a [Value] {
        match self.value {
            Value::Array(items) => items,
            Value::Null => &[],
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                std::slice::from_ref(self.value)
            }
        }
    }

    /// Gives a text, counted.
    fn made(&self, text: impl Into<String>) -> Result<Value, EvaluationError> {
        let text = text.into();
        self.work.allocate(text.len())?;
        Ok(Value::String(text))
    }
}

/// An error that the template made itself.
pub(super) fn failure(message: impl Into<String>) -> EvaluationError {
    EvaluationError::Thrown {
        message: message.into(),
        stack: None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;
    use crate::Limits;
    use crate::budget::Budget;

    /// Runs a filter.
    pub(in super::super) fn run(name: &str, value: &Value, arguments: &[Value]) -> Value {
        let work = Work::new(Budget::new(Limits::default()), 1_700_000_000_123);
        let arguments: Vec<_> = arguments.iter().map(Cow::Borrowed).collect();
        let input = Input {
            value,
            arguments: &arguments,
            named: &[],
            work: &work,
        };
        find(name).unwrap()(&input).unwrap()
    }

    #[test]
    fn every_filter_takes_every_kind_of_value_without_a_panic() {
        let values = [
            json!(null),
            json!(true),
            json!(-3),
            json!(1.5),
            json!(""),
            json!("a b"),
            json!("ü€😀"),
            json!([]),
            json!([3, "a", null]),
            json!([{"a": 1}, {"a": 2}]),
            json!({}),
            json!({"a": "b"}),
        ];
        let groups = [
            text::FILTERS,
            search::FILTERS,
            list::FILTERS,
            number::FILTERS,
            date::FILTERS,
            encoding::FILTERS,
        ];
        let work = Work::new(
            Budget::new(Limits {
                steps_max: 1_000_000,
                ..Limits::default()
            }),
            0,
        );
        for (_, filter) in groups.into_iter().flatten() {
            for value in &values {
                for first in &values {
                    for second in &values {
                        let arguments = [Cow::Borrowed(first), Cow::Borrowed(second)];
                        for count in 0..=2 {
                            let arguments = &arguments[..count];
                            let _ = filter(&Input {
                                value,
                                arguments,
                                named: &[],
                                work: &work,
                            });
                        }
                    }
                }
            }
        }
    }
}
