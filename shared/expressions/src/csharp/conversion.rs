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
        ("ToBase64String", _) => return Ok(V::text(STANDARD.encode(bytes_of(&first)))),
        ("FromBase64String", _) => {
            return match STANDARD.decode(&text) {
                Ok(bytes) => Ok(V::array(
                    bytes.into_iter().map(|b| V::Int(i32::from(b))).collect(),
                )),
                Err(_) => thrown(
                    "FormatException",
                    "The input is not a valid Base-64 string.",
                ),
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
        ("Int32", V::Null) => Some(V::Int(0)),
        ("Boolean", V::Null) => Some(V::Bool(false)),
        ("Boolean", V::Bool(_)) => Some(first),
        ("Int32", V::Bool(flag)) => Some(V::Int(i32::from(*flag))),
        ("Boolean", _) if number.is_some() => number.map(|n| V::Bool(n != 0.0)),
        ("Int32" | "Int16" | "Byte", _) if number.is_some() => {
            let rounded = number.unwrap_or(0.0).round_ties_even();
            if rounded.abs() > 2_147_483_647.0 {
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
