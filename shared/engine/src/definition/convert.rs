//! Elsa's lenient conversion of a value to a declared type.
//!
//! What has no reading as a number, truth value, time or id becomes the type's default, as in Elsa outside of its
//! strict mode. An error is what Elsa throws for: a number out of range, or text that is no JSON of the type.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_expressions::{json_text, number_text as double_text};
use serde_json::{Number, Value};

use super::data_type::DataType;
use super::date::{date_time, offset_of, time_span};

/// A value could not be read as the type that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value} is not a {wanted}")]
pub struct ConversionError {
    /// The value, shortened.
    pub value: String,
    /// The type.
    pub wanted: &'static str,
}

/// Converts a value: numbers, truth values, times and JSON are read from text; a blank text is null for anything
/// but text; text without a reading is the type's default.
///
/// # Errors
///
/// [`ConversionError`] where Elsa throws: the number is out of range, or the text is no JSON of the type.
pub fn convert(value: Value, wanted: &DataType) -> Result<Value, ConversionError> {
    if value.is_null() || matches!(wanted, DataType::Object) {
        return Ok(value);
    }
    if let (Value::String(text), false) = (&value, matches!(wanted, DataType::String))
        && text.trim().is_empty()
    {
        return Ok(Value::Null);
    }
    match wanted {
        DataType::Object => Ok(value),
        DataType::String => Ok(Value::String(text_of(value))),
        DataType::JoinMode => Ok(join_mode(&value)),
        DataType::Boolean => Ok(boolean(&value)),
        DataType::Byte => integer(&value, 0, 255),
        DataType::Short => integer(&value, i64::from(i16::MIN), i64::from(i16::MAX)),
        DataType::Integer => integer(&value, i64::from(i32::MIN), i64::from(i32::MAX)),
        DataType::Long => integer(&value, i64::MIN, i64::MAX),
        DataType::Single | DataType::Number => Ok(number(value)),
        DataType::Decimal => no_json(&value, "Decimal").map(|()| number(value)),
        DataType::Guid => no_json(&value, "Guid").map(|()| guid(value)),
        DataType::DateTime => {
            no_json(&value, "DateTime").map(|()| date_time(&value, "0001-01-01T00:00:00"))
        }
        DataType::DateTimeOffset => no_json(&value, "DateTimeOffset")
            .map(|()| offset_of(&date_time(&value, "0001-01-01T00:00:00+00:00"))),
        DataType::TimeSpan => no_json(&value, "TimeSpan").map(|()| time_span(&value)),
        DataType::Bytes => Ok(match value {
            Value::String(text) if STANDARD.decode(&text).is_ok() => Value::String(text),
            Value::String(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => Value::Null,
        }),
        DataType::Json | DataType::JsonObject => json_object(value),
        DataType::Node => json_node(value),
        DataType::Map | DataType::StringMap => match parsed(value) {
            Value::Object(map)
                if *wanted == DataType::StringMap
                    && map.values().any(|v| !v.is_string() && !v.is_null()) =>
            {
                Err(failure(&Value::Object(map), "StringDictionary"))
            }
            map @ Value::Object(_) => Ok(map),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)) => Err(failure(&other, "ObjectDictionary")),
        },
        DataType::List(of) => list(value, of),
    }
}

/// A value as text: text as it is, everything else as JSON.
#[must_use]
pub fn text_of(value: Value) -> String {
    match value {
        Value::String(s) => s,
        Value::Null => String::new(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(n) => match n.as_f64() {
            Some(f) if n.is_f64() => double_text(f),
            Some(_) | None => n.to_string(),
        },
        other @ (Value::Array(_) | Value::Object(_)) => json_text(&other, false),
    }
}

pub(super) fn failure(value: &Value, wanted: &'static str) -> ConversionError {
    ConversionError {
        value: value.to_string().chars().take(80).collect(),
        wanted,
    }
}

/// Elsa reads text that begins like JSON as JSON of the type, whatever the type; none of these has any.
fn no_json(value: &Value, wanted: &'static str) -> Result<(), ConversionError> {
    match value.as_str() {
        Some(text) if text.trim_start().starts_with(['{', '[']) => Err(failure(value, wanted)),
        Some(_) | None => Ok(()),
    }
}

/// The mode of a name, or of the text of a number. What is none is the first, as for every enumeration of .NET.
fn join_mode(value: &Value) -> Value {
    const MODES: [&str; 3] = ["WaitAll", "WaitAllActive", "WaitAny"];
    let text = value.as_str().unwrap_or_default().trim();
    let named = MODES
        .iter()
        .position(|mode| mode.eq_ignore_ascii_case(text));
    let place = named.or_else(|| text.parse().ok()).unwrap_or(0);
    Value::from(MODES.get(place).copied().unwrap_or("WaitAll"))
}

fn boolean(value: &Value) -> Value {
    Value::Bool(match value {
        Value::Bool(flag) => *flag,
        Value::String(s) => s.trim().eq_ignore_ascii_case("true"),
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    })
}

fn integer(value: &Value, min: i64, max: i64) -> Result<Value, ConversionError> {
    let out_of_range = || failure(value, "whole number in the range of its type");
    let found = match value {
        Value::Number(n) => match n.as_i64() {
            Some(whole) => whole,
            None => n.as_f64().and_then(whole).ok_or_else(out_of_range)?,
        },
        Value::String(s) => match s.trim().parse::<i128>() {
            Ok(n) => i64::try_from(n).map_err(|_| out_of_range())?,
            Err(_) => 0,
        },
        Value::Bool(b) => i64::from(*b),
        Value::Null | Value::Array(_) | Value::Object(_) => 0,
    };
    if (min..=max).contains(&found) {
        Ok(Value::from(found))
    } else {
        Err(out_of_range())
    }
}

/// The nearest whole number, halves to even, as .NET converts.
#[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(f: f64) -> Option<i64> {
    (f.is_finite() && f.abs() < 9.2e18).then(|| f.round_ties_even() as i64)
}

fn number(value: Value) -> Value {
    match &value {
        Value::Number(_) => value,
        Value::String(s) => {
            let s = s.trim();
            if let Ok(n) = s.parse::<i64>() {
                return Value::from(n);
            }
            let found = s.parse::<f64>().ok().and_then(Number::from_f64);
            found.map_or_else(|| Value::from(0), Value::Number)
        }
        Value::Bool(b) => Value::from(i64::from(*b)),
        Value::Null | Value::Array(_) | Value::Object(_) => Value::from(0),
    }
}

fn guid(value: Value) -> Value {
    let digits = value.as_str().map(|text| {
        text.chars()
            .filter(|c| !matches!(c, '-' | '{' | '}' | '(' | ')'))
            .collect::<String>()
            .to_ascii_lowercase()
    });
    let digits = digits.filter(|d| d.len() == 32 && d.bytes().all(|b| b.is_ascii_hexdigit()));
    let digits = digits.unwrap_or_else(|| "0".repeat(32));
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    Value::String(
        [
            part(0, 8),
            part(8, 12),
            part(12, 16),
            part(16, 20),
            part(20, 32),
        ]
        .join("-"),
    )
}

/// Text that looks like JSON, parsed; anything else as it is.
fn parsed(value: Value) -> Value {
    match &value {
        Value::String(s) if s.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(s).unwrap_or(value)
        }
        Value::String(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_) => value,
    }
}

fn json_object(value: Value) -> Result<Value, ConversionError> {
    let is_text = value.is_string();
    match parsed(value) {
        object @ Value::Object(_) => Ok(object),
        other @ Value::Array(_) if is_text => Err(failure(&other, "JSON object")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Ok(Value::Null)
        }
    }
}

fn json_node(value: Value) -> Result<Value, ConversionError> {
    match parsed(value) {
        node @ (Value::Object(_) | Value::Array(_)) => Ok(node),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(Value::Null),
    }
}

fn is_number(of: &DataType) -> bool {
    matches!(
        of,
        DataType::Byte
            | DataType::Short
            | DataType::Integer
            | DataType::Long
            | DataType::Single
            | DataType::Number
            | DataType::Decimal
    )
}

/// A list of values of a type. A text that is no JSON is a list of its characters: .NET takes it for one.
fn list(value: Value, of: &DataType) -> Result<Value, ConversionError> {
    let is_text = value.is_string();
    let items = match parsed(value) {
        // JSON of numbers has numbers: .NET reads none from its texts.
        Value::Array(items) if is_text && is_number(of) && items.iter().any(Value::is_string) => {
            return Err(failure(&Value::Array(items), "list of numbers"));
        }
        Value::Array(items) => items,
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            return Err(failure(&Value::String(text), "list"));
        }
        Value::String(text) if matches!(of, DataType::String) => vec![Value::String(text)],
        Value::String(text) => {
            let is_number = matches!(
                of,
                DataType::Byte | DataType::Short | DataType::Integer | DataType::Long
            );
            let character = |c: char| {
                if is_number {
                    Value::from(u32::from(c))
                } else {
                    Value::String(c.to_string())
                }
            };
            text.chars().map(character).collect()
        }
        object @ Value::Object(_) => return Err(failure(&object, "list")),
        Value::Null | Value::Bool(_) | Value::Number(_) => return Ok(Value::Null),
    };
    let items = items.into_iter().map(|item| convert(item, of));
    items.collect::<Result<_, _>>().map(Value::Array)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_read_as_what_is_wanted() {
        let list = DataType::List(Box::new(DataType::Integer));
        let cases = [
            (json!("true"), DataType::Boolean, json!(true)),
            (json!(2.5), DataType::Integer, json!(2)),
            (json!("[1,2]"), list.clone(), json!([1, 2])),
            (json!(1e21), DataType::String, json!("1E+21")),
            (json!(5), list, json!(null)),
            (
                json!("2024-02-03"),
                DataType::DateTime,
                json!("2024-02-03T00:00:00"),
            ),
            (
                json!("02/03/2024 04:05"),
                DataType::DateTime,
                json!("2024-02-03T04:05:00"),
            ),
            (
                json!("2024-02-03"),
                DataType::DateTimeOffset,
                json!("2024-02-03T00:00:00+00:00"),
            ),
            (json!("5"), DataType::TimeSpan, json!("5.00:00:00")),
        ];
        for (value, wanted, expected) in cases {
            assert_eq!(
                convert(value.clone(), &wanted),
                Ok(expected),
                "{value} {wanted:?}"
            );
        }
    }

    #[test]
    fn what_has_no_reading_is_the_default() {
        let cases = [
            (json!("many"), DataType::Integer, json!(0)),
            (json!("yes"), DataType::Boolean, json!(false)),
            (json!({ "a": 1 }), DataType::Number, json!(0)),
            (
                json!("nope"),
                DataType::DateTime,
                json!("0001-01-01T00:00:00"),
            ),
            (json!(5), DataType::TimeSpan, json!("00:00:00")),
            (
                json!("x"),
                DataType::Guid,
                json!("00000000-0000-0000-0000-000000000000"),
            ),
        ];
        for (value, wanted, expected) in cases {
            assert_eq!(
                convert(value.clone(), &wanted),
                Ok(expected),
                "{value} {wanted:?}"
            );
        }
    }

    #[test]
    fn out_of_range_and_json_of_another_type_are_errors() {
        assert!(convert(json!("3000000000"), &DataType::Integer).is_err());
        assert!(convert(json!(5), &DataType::Map).is_err());
    }
}
