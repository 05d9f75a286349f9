//! `Convert`'s methods.

use super::operators;
use super::run::{Done, thrown};
use super::statics::parsed;
use super::value::V;

#[allow(clippy::cast_possible_truncation, reason = "saturates")]
pub(super) fn whole(value: &V<'_>) -> i64 {
    operators::as_double(value).unwrap_or(0.0) as i64
}

pub(super) fn bytes_of(value: &V<'_>) -> Vec<u8> {
    match value {
        V::List(list) => list
            .items
            .borrow()
            .iter()
            .map(|item| u8::try_from(whole(item)).unwrap_or(0))
            .collect(),
        other => other.shown().into_bytes(),
    }
}

pub(super) fn conversion<'p>(name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let first = arguments.first().cloned().unwrap_or(V::Null);
    let text = first.shown();
    let number = operators::as_double(&first);
    let class = name.strip_prefix("To").unwrap_or(name);
    match (name, arguments.get(1)) {
        ("ToString", None) => {}
        _ if matches!(first, V::Element(_)) => {
            let message = "Unable to cast object of type 'JsonElement' to type 'IConvertible'.";
            return thrown("InvalidCastException", message);
        }
        _ => {}
    }
    match (name, arguments.get(1)) {
        ("ToBase64String", _) => return Ok(V::text(STANDARD.encode(bytes_of(&first)))),
        ("FromBase64String", _) => {
            return match STANDARD.decode(&text) {
                Ok(bytes) => Ok(V::bytes(&bytes)),
                Err(_) => thrown(
                    "FormatException",
                    "The input is not a valid Base-64 string.",
                ),
            };
        }
        ("ToHexString" | "ToHexStringLower", _) => {
            let hex: String = bytes_of(&first)
                .iter()
                .map(|b| format!("{b:02X}"))
                .collect();
            return Ok(V::text(if name.ends_with("Lower") {
                hex.to_lowercase()
            } else {
                hex
            }));
        }
        ("FromHexString", _) => {
            let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
            let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
            return match bytes {
                Some(bytes) => Ok(V::bytes(&bytes)),
                None => thrown("FormatException", "The input is not a valid hex string."),
            };
        }
        ("IsDBNull", _) => return Ok(V::Bool(false)),
        ("ToChar", _) => {
            return match &first {
                V::Int(code) => Ok(V::Char(
                    u32::try_from(*code)
                        .ok()
                        .and_then(char::from_u32)
                        .unwrap_or(' '),
                )),
                V::Char(_) => Ok(first),
                _ if text.chars().count() == 1 => Ok(V::Char(text.chars().next().unwrap_or(' '))),
                _ => thrown(
                    "FormatException",
                    "String must be exactly one character long.",
                ),
            };
        }
        ("ToInt32" | "ToInt64" | "ToInt16" | "ToByte", Some(V::Int(radix @ (2 | 8 | 10 | 16)))) => {
            let digits = text.trim_start_matches("0x").trim_start_matches("0X");
            let number = i64::from_str_radix(digits, radix.unsigned_abs());
            return match number {
                Ok(number) if name == "ToInt64" => Ok(V::Long(number)),
                #[allow(clippy::cast_possible_truncation, reason = "its bits are the number")]
                Ok(number) if u32::try_from(number).is_ok() => Ok(V::Int(number as i32)),
                Ok(_) | Err(_) => {
                    thrown("FormatException", "Could not find any recognizable digits.")
                }
            };
        }
        ("ToString", Some(V::Int(2))) => return Ok(V::text(format!("{:b}", whole(&first)))),
        ("ToString", Some(V::Int(16))) => return Ok(V::text(format!("{:x}", whole(&first)))),
        ("ToString", Some(V::Int(8))) => return Ok(V::text(format!("{:o}", whole(&first)))),
        ("ToString", _) => return Ok(V::text(text)),
        _ => {}
    }
    #[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
    let found = match (class, &first) {
        ("Int32" | "Int16" | "Byte" | "UInt32", V::Null) => Some(V::Int(0)),
        ("Int64", V::Null) => Some(V::Long(0)),
        ("Double", V::Null) => Some(V::Double(0.0)),
        ("Single", V::Null) => Some(V::Single(0.0)),
        ("Decimal", V::Null) => Some(V::Decimal(super::decimal::Decimal::whole(0))),
        ("Single", _) if number.is_some() => number.map(|n| V::Single(n as f32)),
        ("Int64", V::Bool(flag)) => Some(V::Long(i64::from(*flag))),
        ("Double", V::Bool(flag)) => Some(V::Double(f64::from(u8::from(*flag)))),
        ("Decimal", V::Bool(flag)) => {
            Some(V::Decimal(super::decimal::Decimal::whole(i64::from(*flag))))
        }
        ("Int32", V::Char(c)) => Some(V::Int(u32::from(*c).cast_signed())),
        ("Int32" | "Int64" | "Double" | "Decimal", V::Enum(member)) => {
            Some(V::Int(i32::try_from(member.number).unwrap_or(0)))
        }
        ("DateTime", V::Null) => Some(operators::default_of(&super::syntax::Type {
            name: "DateTime".into(),
            ..super::syntax::Type::default()
        })),
        ("Boolean", V::Null) => Some(V::Bool(false)),
        ("Boolean", V::Bool(_)) => Some(first),
        ("Int32", V::Bool(flag)) => Some(V::Int(i32::from(*flag))),
        ("Boolean", _) if number.is_some() => number.map(|n| V::Bool(n != 0.0)),
        ("Int32" | "Int16" | "Byte", _) if number.is_some() => {
            let rounded = number.unwrap_or(0.0).round_ties_even();
            let (least, most) = match class {
                "Byte" => (0.0, 255.0),
                "Int16" => (-32_768.0, 32_767.0),
                _ => (-2_147_483_648.0, 2_147_483_647.0),
            };
            if rounded < least || rounded > most {
                return thrown(
                    "OverflowException",
                    "Value was either too large or too small for an Int32.",
                );
            }
            Some(V::Int(rounded as i32))
        }
        ("Int64", _) if number.is_some() => number.map(|n| V::Long(n.round_ties_even() as i64)),
        ("Double" | "Single", _) if number.is_some() => number.map(V::Double),
        ("Decimal", _) if number.is_some() => operators::as_decimal(&first).map(V::Decimal),
        ("DateTime", V::Date(_)) => Some(first),
        _ => parsed(class, &text),
    };
    let bad = || {
        thrown(
            "FormatException",
            format!("The input string '{text}' was not in a correct format."),
        )
    };
    found.map_or_else(bad, Ok)
}
