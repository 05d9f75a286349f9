//! Conversion of what a script gave, which is more than its JSON: numbers are doubles, dates are dates, and some values
//! of .NET have a text of their own.

use dormouse_expressions::{Kind, date_time_text, indented_json_text, number_text};
use serde_json::{Value, json};

use super::convert::{ConversionError, convert, failure};
use super::data_type::DataType;

/// The name of .NET's type of a function of a script.
const FUNCTION: &str =
    "System.Func`3[Jint.Native.JsValue,Jint.Native.JsValue[],Jint.Native.JsValue]";

/// Converts what a script gave.
///
/// # Errors
///
/// As [`convert`], and when text is wanted of what no serialiser can write.
pub fn convert_kind(value: Value, kind: Kind, wanted: &DataType) -> Result<Value, ConversionError> {
    match (kind, wanted) {
        (Kind::DateTime, DataType::String) if value.is_string() => Ok(Value::String(
            value.as_str().map(date_time_text).unwrap_or_default(),
        )),
        (Kind::DateTime, DataType::List(_)) if value.is_string() => Ok(Value::Null),
        (Kind::Bytes, DataType::String) if value.is_string() => {
            Ok(Value::String("Byte[] Array".into()))
        }
        (Kind::Double, DataType::String) => Ok(Value::String(
            value.as_f64().map(script_number).unwrap_or_default(),
        )),
        (Kind::Dictionary | Kind::Texts, DataType::String) if value.is_object() => {
            Ok(Value::String("(Collection)".into()))
        }
        (Kind::Node, DataType::String) if value.is_object() => {
            Ok(Value::String(indented_json_text(&value)))
        }
        (Kind::BigInteger, _) => Ok(big_integer(value, wanted)),
        (Kind::Function, DataType::String) => Ok(Value::String(FUNCTION.into())),
        (Kind::Opaque, DataType::String) => {
            Err(failure(&json!("an object with functions"), "text"))
        }
        _ => convert(value, wanted),
    }
}

/// The number that journals show of a big integer.
pub(crate) fn shown(value: &Value) -> Value {
    let digits = value.as_str().unwrap_or_default();
    digits.parse().map_or_else(|_| value.clone(), Value::Number)
}

/// A big integer is text or an object to .NET, and is converted to nothing else.
fn big_integer(value: Value, wanted: &DataType) -> Value {
    let Some(digits) = value.as_str().map(str::to_owned) else {
        // It has been converted already.
        return value;
    };
    match wanted {
        DataType::String => value,
        DataType::Object => members(&digits),
        DataType::Byte
        | DataType::Short
        | DataType::Integer
        | DataType::Long
        | DataType::Single
        | DataType::Number
        | DataType::Decimal => Value::from(0),
        DataType::Boolean => Value::Bool(false),
        DataType::JoinMode
        | DataType::Guid
        | DataType::DateTime
        | DataType::DateTimeOffset
        | DataType::TimeSpan
        | DataType::Bytes
        | DataType::Json
        | DataType::JsonObject
        | DataType::Node
        | DataType::Map
        | DataType::StringMap
        | DataType::List(_) => Value::Null,
    }
}

/// The members that .NET's object shows.
fn members(digits: &str) -> Value {
    let amount = digits.trim_start_matches('-');
    let sign = match (amount, digits.starts_with('-')) {
        ("0", _) => 0,
        (_, true) => -1,
        (_, false) => 1,
    };
    let is_even = amount.ends_with(['0', '2', '4', '6', '8']);
    let is_power = sign > 0 && amount.parse::<u128>().is_ok_and(u128::is_power_of_two);
    json!({
        "IsPowerOfTwo": is_power,
        "IsZero": sign == 0,
        "IsOne": digits == "1",
        "IsEven": is_even,
        "Sign": sign,
    })
}

/// A number of a script as text: whole ones are 64-bit integers as far as these reach.
#[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
fn script_number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 9.2e18 && number.to_bits() != (-0.0_f64).to_bits() {
        return (number as i64).to_string();
    }
    number_text(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_scripts_become_text_as_dotnet_writes_them() {
        let cases = [
            (json!(-0.0), Kind::Double, "-0"),
            (json!(1e21), Kind::Double, "1E+21"),
            (json!({ "a": 1 }), Kind::Dictionary, "(Collection)"),
            (
                json!({ "a": [1] }),
                Kind::Node,
                "{\n  \"a\": [\n    1\n  ]\n}",
            ),
            (json!("aGk="), Kind::Bytes, "Byte[] Array"),
            (json!("10"), Kind::BigInteger, "10"),
            (json!(null), Kind::Function, FUNCTION),
        ];
        for (value, kind, text) in cases {
            let found = convert_kind(value, kind, &DataType::String);
            assert_eq!(found, Ok(json!(text)), "{kind:?}");
        }
        assert!(convert_kind(json!(null), Kind::Opaque, &DataType::String).is_err());
    }

    #[test]
    fn a_big_integer_is_an_object_and_no_number() {
        let found = convert_kind(json!("8"), Kind::BigInteger, &DataType::Object);
        let members = json!({ "IsPowerOfTwo": true, "IsZero": false, "IsOne": false, "IsEven": true, "Sign": 1 });
        assert_eq!(found, Ok(members));
        let found = convert_kind(json!("8"), Kind::BigInteger, &DataType::Integer);
        assert_eq!(found, Ok(json!(0)));
    }
}
