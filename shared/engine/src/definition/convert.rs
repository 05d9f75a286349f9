//! Elsa's lenient conversion of a value to a declared type.

use serde_json::{Number, Value};

use super::data_type::DataType;
use crate::time::{Timestamp, format_duration, parse_duration_ms};

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
/// but text; a single value becomes a list of one where a list is wanted, and the other way round.
///
/// # Errors
///
/// [`ConversionError`] where the value has no reading as the type. Elsa then takes the type's default; the caller decides.
pub fn convert(value: Value, wanted: &DataType) -> Result<Value, ConversionError> {
    if value.is_null() {
        return Ok(value);
    }
    if let (Value::String(text), false) = (
        &value,
        matches!(wanted, DataType::String | DataType::Object),
    ) && text.trim().is_empty()
    {
        return Ok(Value::Null);
    }
    match wanted {
        DataType::Object => Ok(value),
        DataType::String => Ok(Value::String(text_of(value))),
        DataType::Boolean => boolean(value),
        DataType::Integer => integer(value),
        DataType::Number => number(value),
        DataType::Guid => scalar_text(value, "Guid"),
        DataType::DateTime => date_time(value),
        DataType::TimeSpan => time_span(value),
        DataType::Bytes => scalar_text(value, "ByteArray"),
        DataType::Json => Ok(parsed(value)),
        DataType::Map => match parsed(value) {
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
        Value::Number(n) => number_text(&n),
        other @ (Value::Array(_) | Value::Object(_)) => other.to_string(),
    }
}

/// A number as .NET prints it: without a trailing `.0`.
fn number_text(n: &Number) -> String {
    match n.as_f64() {
        Some(f) if n.is_f64() && f.fract() == 0.0 && f.abs() < 1e15 => format!("{f:.0}"),
        Some(_) | None => n.to_string(),
    }
}

fn failure(value: &Value, wanted: &'static str) -> ConversionError {
    ConversionError {
        value: value.to_string().chars().take(80).collect(),
        wanted,
    }
}

fn boolean(value: Value) -> Result<Value, ConversionError> {
    match &value {
        Value::Bool(_) => Ok(value),
        Value::String(s) => match s.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err(failure(&value, "Boolean")),
        },
        Value::Number(n) => Ok(Value::Bool(n.as_f64() != Some(0.0))),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(failure(&value, "Boolean")),
    }
}

fn integer(value: Value) -> Result<Value, ConversionError> {
    let found = match &value {
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().and_then(whole)),
        Value::String(s) => s
            .trim()
            .parse::<i64>()
            .ok()
            .or_else(|| s.trim().parse().ok().and_then(whole)),
        Value::Bool(b) => Some(i64::from(*b)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    found
        .map(Value::from)
        .ok_or_else(|| failure(&value, "whole number"))
}

/// The nearest whole number, halves to even, as .NET converts.
#[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(f: f64) -> Option<i64> {
    (f.is_finite() && f.abs() < 9.0e18).then(|| f.round_ties_even() as i64)
}

fn number(value: Value) -> Result<Value, ConversionError> {
    match &value {
        Value::Number(_) => Ok(value),
        Value::String(s) => {
            let s = s.trim();
            if let Ok(n) = s.parse::<i64>() {
                return Ok(Value::from(n));
            }
            s.parse::<f64>()
                .ok()
                .and_then(Number::from_f64)
                .map(Value::Number)
                .ok_or_else(|| failure(&value, "number"))
        }
        Value::Bool(b) => Ok(Value::from(i64::from(*b))),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(failure(&value, "number")),
    }
}

fn scalar_text(value: Value, wanted: &'static str) -> Result<Value, ConversionError> {
    match value {
        Value::String(_) => Ok(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(failure(&value, wanted))
        }
    }
}

fn date_time(value: Value) -> Result<Value, ConversionError> {
    match &value {
        Value::String(s) => match Timestamp::parse(s) {
            Some(_) => Ok(value),
            None => Err(failure(&value, "DateTime")),
        },
        Value::Number(n) => match n.as_i64() {
            Some(ms) => Ok(Value::String(Timestamp(ms).to_string())),
            None => Err(failure(&value, "DateTime")),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err(failure(&value, "DateTime"))
        }
    }
}

fn time_span(value: Value) -> Result<Value, ConversionError> {
    let ms = match &value {
        Value::String(s) => parse_duration_ms(s),
        // A script's number is milliseconds, as in JavaScript.
        Value::Number(n) => n.as_f64().and_then(whole),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    ms.map(|ms| Value::String(format_duration(ms)))
        .ok_or_else(|| failure(&value, "TimeSpan"))
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

fn list(value: Value, of: &DataType) -> Result<Value, ConversionError> {
    match parsed(value) {
        Value::Array(items) => items
            .into_iter()
            .map(|item| convert(item, of))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        single @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => Ok(Value::Array(vec![convert(single, of)?])),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_read_as_what_is_wanted() {
        assert_eq!(convert(json!("true"), &DataType::Boolean), Ok(json!(true)));
        assert_eq!(convert(json!("42"), &DataType::Integer), Ok(json!(42)));
        assert_eq!(convert(json!("1.5"), &DataType::Number), Ok(json!(1.5)));
        assert_eq!(
            convert(json!("[1,2]"), &DataType::List(Box::new(DataType::Integer))),
            Ok(json!([1, 2]))
        );
        assert_eq!(convert(json!(" "), &DataType::Integer), Ok(json!(null)));
        assert_eq!(convert(json!(3.0), &DataType::String), Ok(json!("3")));
        assert!(convert(json!("many"), &DataType::Integer).is_err());
    }
}
