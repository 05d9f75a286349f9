//! What values mean to Liquid: truth, text, numbers, equality, order and members.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::element::{self, element};
use crate::moment::Moment;

/// A number; whole numbers stay whole as long as they can.
#[derive(Debug, Clone, Copy)]
pub(super) enum Amount {
    Whole(i64),
    Fraction(f64),
}

impl Amount {
    /// The number in a value: texts that look like one count, too, and nothing else does.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => match number.as_i64() {
                Some(whole) => Some(Self::Whole(whole)),
                None => number.as_f64().map(Self::Fraction),
            },
            Value::String(text) => match text.trim().parse::<i64>() {
                Ok(whole) => Some(Self::Whole(whole)),
                Err(_) => text
                    .trim()
                    .parse::<f64>()
                    .ok()
                    .filter(|f| f.is_finite())
                    .map(Self::Fraction),
            },
            Value::Bool(flag) => Some(Self::Whole(i64::from(*flag))),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The number in a value, or zero.
    pub(super) fn or_zero(value: &Value) -> Self {
        Self::of(value).unwrap_or(Self::Whole(0))
    }

    /// The number as a double.
    pub(super) fn as_f64(self) -> f64 {
        match self {
            #[allow(
                clippy::cast_precision_loss,
                reason = "only where a fraction is involved"
            )]
            Self::Whole(whole) => whole as f64,
            Self::Fraction(fraction) => fraction,
        }
    }

    /// The number without its fraction.
    pub(super) fn truncated(self) -> i64 {
        match self {
            Self::Whole(whole) => whole,
            #[allow(clippy::cast_possible_truncation, reason = "saturates, as meant")]
            Self::Fraction(fraction) => fraction as i64,
        }
    }

    /// Applies an operation: the whole one where both are whole and it does not overflow.
    pub(super) fn combine(
        self,
        other: Self,
        whole: fn(i64, i64) -> Option<i64>,
        fraction: fn(f64, f64) -> f64,
    ) -> Value {
        if let (Self::Whole(first), Self::Whole(second)) = (self, other)
            && let Some(result) = whole(first, second)
        {
            return Value::from(result);
        }
        fraction_value(fraction(self.as_f64(), other.as_f64()))
    }
}

impl From<Amount> for Value {
    fn from(amount: Amount) -> Self {
        match amount {
            Amount::Whole(whole) => Value::from(whole),
            Amount::Fraction(fraction) => fraction_value(fraction),
        }
    }
}

/// A fraction as a value, with the 15 digits that are certain: Fluid calculates in decimals, where 0.1 and 0.2
/// make 0.3.
fn fraction_value(fraction: f64) -> Value {
    let rounded = format!("{fraction:.14e}").parse().unwrap_or(fraction);
    Number::from_f64(rounded).map_or(Value::Null, Value::Number)
}

/// Only nil and false are not true.
pub(super) fn is_truthy(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// What a value is as text. Lists are their items one after another, objects nothing.
pub(super) fn to_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::Bool(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
        Value::Number(number) => Cow::Owned(number_text(number)),
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(items) => items.iter().map(to_text).collect::<String>().into(),
        // Fluid prints nothing of a dictionary.
        Value::Object(_) => match date_of(value).and_then(|iso| iso.get(..19)) {
            Some(seconds) => Cow::Owned(format!("{}Z", seconds.replace('T', " "))),
            None => element(value).map_or(Cow::Borrowed(""), element::text),
        },
    }
}

/// The member by which a date is told from a text. No variable has it: names of members come from JSON or .NET.
const DATE: &str = "\u{0}date";

/// A date: it prints otherwise than its text, and is text in JSON.
pub(super) fn date(moment: &Moment) -> Value {
    let iso = format!("{}+00:00", moment.in_utc().civil());
    Value::Object(
        [(DATE.to_owned(), Value::String(iso))]
            .into_iter()
            .collect(),
    )
}

/// The ISO 8601 text of a date.
pub(super) fn date_of(value: &Value) -> Option<&str> {
    value.as_object()?.get(DATE)?.as_str()
}

/// A number as people write it, never with an exponent.
pub(super) fn number_text(number: &Number) -> String {
    let fraction = number.as_f64().filter(|_| number.is_f64());
    match fraction {
        Some(fraction) if fraction.fract() == 0.0 => format!("{fraction:.1}"),
        Some(fraction) => fraction.to_string(),
        None => number.to_string(),
    }
}

/// Whether two values are equal; numbers by what they count.
pub(super) fn equal(first: &Value, second: &Value) -> bool {
    match (first, second) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a == b)
        }
        _ => first == second,
    }
}

/// The order of two numbers or two texts; other values have none.
pub(super) fn compare(first: &Value, second: &Value) -> Option<Ordering> {
    match (first, second) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Number(_), _) | (_, Value::Number(_)) => {
            let (a, b) = (Amount::of(first)?, Amount::of(second)?);
            match (a, b) {
                (Amount::Whole(a), Amount::Whole(b)) => Some(a.cmp(&b)),
                _ => a.as_f64().partial_cmp(&b.as_f64()),
            }
        }
        _ => None,
    }
}

/// Whether a value is a text, list or object without content.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a value is empty, nil, false or only whitespace.
pub(super) fn is_blank(value: &Value) -> bool {
    !is_truthy(value)
        || is_empty(value)
        || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Whether `whole` has `part`: a text within a text, an item of a list, a key of an object.
pub(super) fn contains(whole: &Value, part: &Value) -> bool {
    match whole {
        Value::String(text) => !part.is_null() && text.contains(&*to_text(part)),
        Value::Array(items) => items.iter().any(|item| equal(item, part)),
        Value::Object(entries) => entries.contains_key(&*to_text(part)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A member of a value: an entry, an item, or `size`, `first` and `last`. What is missing is nil.
pub(super) fn member<'a>(value: &'a Value, key: &Value) -> Cow<'a, Value> {
    if element(value).is_some() {
        return Cow::Owned(Value::Null);
    }
    let found = match (value, key) {
        (Value::Object(entries), _) => entries.get(&*to_text(key)),
        (Value::Array(items), Value::Number(_)) => item(items, key),
        (Value::Array(items), Value::String(name)) if name == "first" => items.first(),
        (Value::Array(items), Value::String(name)) if name == "last" => items.last(),
        _ => None,
    };
    match found {
        Some(found) => Cow::Borrowed(found),
        None if key == "size" => Cow::Owned(size(value)),
        None => Cow::Owned(Value::Null),
    }
}

/// The number of characters, items or entries; nil for what has none.
pub(super) fn size(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(text.chars().count()),
        Value::Array(items) => Value::from(items.len()),
        Value::Object(_) if element(value).is_some() => Value::Null,
        Value::Object(entries) => Value::from(entries.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => Value::Null,
    }
}

/// An item by its index; a negative one is none, as in Fluid.
fn item<'a>(items: &'a [Value], index: &Value) -> Option<&'a Value> {
    let index = Amount::of(index)?.truncated();
    items.get(usize::try_from(index).ok()?)
}

/// About how many bytes a value takes.
pub(super) fn weight(value: &Value) -> usize {
    let own = size_of::<Value>();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => own,
        Value::String(text) => own + text.len(),
        Value::Array(items) => own + items.iter().map(weight).sum::<usize>(),
        Value::Object(entries) => {
            let entry = |(key, entry): (&String, &Value)| 2 * own + key.len() + weight(entry);
            own + entries.iter().map(entry).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_become_text_as_people_write_them() {
        let cases = [
            (json!(null), ""),
            (json!(true), "true"),
            (json!(10.0), "10.0"),
            (json!(0.1), "0.1"),
            (json!(1e21), "1000000000000000000000.0"),
            (json!([1, "a", null]), "1a"),
            (json!({"a": 1}), ""),
        ];
        for (value, text) in cases {
            assert_eq!(to_text(&value), text);
        }
    }

    #[test]
    fn members_that_are_missing_are_nil() {
        let value = json!({"list": [1, 2, 3], "size": "mine"});
        assert_eq!(*member(&value, &json!("nosuch")), Value::Null);
        assert_eq!(*member(&value, &json!("size")), json!("mine"));
        let list = member(&value, &json!("list"));
        let found = ["first", "last", "size", "nosuch"]
            .map(|name| member(&list, &json!(name)).into_owned());
        assert_eq!(found, [json!(1), json!(3), json!(3), Value::Null]);
        assert_eq!(*member(&list, &json!(-1)), Value::Null);
    }
}
