//! Casts, and what a value is.

use super::decimal::Decimal;
use super::operators::{as_decimal, as_double, as_long};
use super::run::{Done, thrown};
use super::syntax::Type;
use super::value::{ListKind, MapKind, V};

pub(super) fn cast<'p>(value: V<'p>, of: &Type) -> Done<'p, V<'p>> {
    if of.is_array || !of.arguments.is_empty() {
        return Ok(value);
    }
    let wrong = |value: &V<'p>| {
        let message = format!(
            "Unable to cast object of type 'System.{}' to type '{}'.",
            value.type_name(),
            of.name
        );
        thrown("InvalidCastException", message)
    };
    #[allow(clippy::cast_possible_truncation, reason = "as C# casts")]
    let found = match (of.name.as_str(), &value) {
        (_, V::Null) => V::Null,
        (_, V::Enum(member)) if is_number_type(of) => return cast(V::Long(member.number), of),
        (name @ ("int" | "Int32" | "short" | "byte" | "sbyte" | "ushort" | "uint"), _)
            if as_double(&value).is_some() =>
        {
            if matches!(value, V::Decimal(_)) {
                check_range(&value, of)?;
            }
            let number = match &value {
                V::Int(_) | V::Long(_) | V::Char(_) => as_long(&value),
                other => as_double(other).unwrap_or(0.0) as i64,
            };
            match name {
                "short" => V::Int(i32::from(number as i16)),
                "ushort" => V::Int(i32::from(number as u16)),
                "byte" => V::Int(i32::from(number as u8)),
                "sbyte" => V::Int(i32::from(number as i8)),
                "uint" => V::Long(i64::from(number as u32)),
                _ => V::Int(number as i32),
            }
        }
        ("float" | "Single", _) if as_double(&value).is_some() => {
            V::Single(as_double(&value).unwrap_or(f64::NAN) as f32)
        }
        ("long" | "Int64", V::Int(_) | V::Long(_) | V::Char(_)) => V::Long(as_long(&value)),
        ("long" | "Int64" | "ulong", V::Double(_) | V::Decimal(_) | V::Single(_)) => {
            V::Long(as_double(&value).unwrap_or(0.0) as i64)
        }
        (
            "double" | "Double",
            V::Single(_) | V::Int(_) | V::Long(_) | V::Double(_) | V::Decimal(_) | V::Char(_),
        ) => V::Double(as_double(&value).unwrap_or(f64::NAN)),
        (
            "decimal" | "Decimal",
            V::Single(_) | V::Int(_) | V::Long(_) | V::Double(_) | V::Decimal(_),
        ) => {
            return match as_decimal(&value) {
                Some(number) => Ok(V::Decimal(number)),
                None => thrown(
                    "OverflowException",
                    "Value was either too large or too small for a Decimal.",
                ),
            };
        }
        ("char", V::Int(number)) => V::Char(
            u32::try_from(*number)
                .ok()
                .and_then(char::from_u32)
                .unwrap_or('\u{fffd}'),
        ),
        ("int" | "long" | "double" | "decimal" | "float" | "bool" | "char" | "string", _)
            if !is_type(&value, of) =>
        {
            return wrong(&value);
        }
        _ => value,
    };
    Ok(found)
}

pub(super) fn is_type(value: &V<'_>, of: &Type) -> bool {
    if of.is_array {
        return matches!(value, V::List(list) if list.is_array());
    }
    match of.name.as_str() {
        "int" | "Int32" => matches!(value, V::Int(_)),
        "long" | "Int64" => matches!(value, V::Long(_)),
        "double" | "Double" => matches!(value, V::Double(_)),
        "float" | "Single" => matches!(value, V::Single(_)),
        "Exception" => matches!(value, V::Map(_)),
        "JsonValue" => !matches!(value, V::Null | V::Map(_) | V::List(_)),
        "JsonElement" => !matches!(value, V::Null),
        "DayOfWeek" => matches!(value, V::Enum(member) if &*member.class == "DayOfWeek"),
        "HashSet" | "ISet" => matches!(value, V::List(list) if list.kind == ListKind::Set),
        "Func" | "Action" | "Delegate" => matches!(value, V::Func(_)),
        "IFormattable" | "IConvertible" | "IComparable" => {
            !matches!(value, V::Null | V::Map(_) | V::List(_) | V::Func(_))
        }
        "decimal" | "Decimal" => matches!(value, V::Decimal(_)),
        "string" | "String" => matches!(value, V::Text(_)),
        "bool" | "Boolean" => matches!(value, V::Bool(_)),
        "char" | "Char" => matches!(value, V::Char(_)),
        "DateTime" => matches!(value, V::Date(date) if date.offset.is_none()),
        "DateTimeOffset" => matches!(value, V::Date(date) if date.offset.is_some()),
        "TimeSpan" => matches!(value, V::Span(_)),
        "Guid" => matches!(value, V::Guid(_)),
        "object" | "Object" | "dynamic" => !matches!(value, V::Null),
        "IDictionary" | "Dictionary" => matches!(value, V::Map(_)),
        "ExpandoObject" => matches!(value, V::Map(map) if map.kind == MapKind::Expando),
        "JsonObject" => matches!(value, V::Map(map) if map.kind == MapKind::Node),
        "JsonNode" => matches!(value, V::Map(_) | V::List(_)),
        "List" => matches!(value, V::List(list) if list.kind == ListKind::List),
        "Array" => matches!(value, V::List(list) if list.is_array()),
        "IEnumerable" => matches!(value, V::List(_) | V::Text(_) | V::Map(_)),
        "ICollection" | "IList" | "JsonArray" | "IReadOnlyList" => matches!(value, V::List(_)),
        _ => false,
    }
}

pub(super) fn default_of<'p>(of: &Type) -> V<'p> {
    if of.is_array {
        return V::Null;
    }
    match of.name.as_str() {
        _ if of.is_nullable => V::Null,
        "int" | "short" | "byte" | "Int32" | "sbyte" | "ushort" => V::Int(0),
        "long" | "Int64" | "uint" | "ulong" => V::Long(0),
        "float" | "Single" => V::Single(0.0),
        "double" | "Double" => V::Double(0.0),
        "decimal" | "Decimal" => V::Decimal(Decimal::whole(0)),
        "bool" | "Boolean" => V::Bool(false),
        "char" => V::Char('\0'),
        "Guid" => V::Guid("00000000-0000-0000-0000-000000000000".into()),
        "TimeSpan" => V::Span(0),
        "DateTime" => V::Date(super::date::Date {
            ticks: 0,
            is_utc: false,
            offset: None,
            part: super::date::Part::Whole,
        }),
        _ => V::Null,
    }
}

/// The name of a type as .NET has it.
pub(super) fn full_name(of: &Type) -> String {
    let name = match of.name.as_str() {
        "int" => "Int32",
        "long" => "Int64",
        "double" => "Double",
        "decimal" => "Decimal",
        "string" => "String",
        "bool" => "Boolean",
        "object" | "dynamic" => "Object",
        "char" => "Char",
        "float" => "Single",
        "byte" => "Byte",
        "short" => "Int16",
        "uint" => "UInt32",
        "ulong" => "UInt64",
        "sbyte" => "SByte",
        "ushort" => "UInt16",
        other => other,
    };
    let name = match of.arguments.len() {
        0 => name.to_owned(),
        arguments => format!("{name}`{arguments}"),
    };
    if of.is_nullable && is_number_type(of) {
        return "Nullable`1".to_owned();
    }
    if of.is_array {
        format!("{name}[]")
    } else {
        name
    }
}

fn is_number_type(of: &Type) -> bool {
    let names = [
        "int", "long", "double", "decimal", "float", "short", "byte", "sbyte", "ushort", "uint",
        "ulong", "Int32", "Int64",
    ];
    !of.is_array && names.contains(&of.name.as_str())
}

/// Refuses a number that a type of whole numbers does not hold.
pub(super) fn check_range<'p>(value: &V<'p>, of: &Type) -> Done<'p> {
    let (least, most) = match of.name.as_str() {
        "byte" => (0.0, 255.0),
        "sbyte" => (-128.0, 127.0),
        "short" => (-32_768.0, 32_767.0),
        "ushort" => (0.0, 65_535.0),
        "uint" => (0.0, 4_294_967_295.0),
        "int" => (-2_147_483_648.0, 2_147_483_647.0),
        _ => return Ok(()),
    };
    match as_double(value) {
        Some(number) if number.trunc() < least || number.trunc() > most => {
            let message = format!("Value was either too large or too small for {}.", of.name);
            thrown("OverflowException", message)
        }
        _ => Ok(()),
    }
}

/// Whether the result of an operator on whole numbers fits in their type.
pub(super) fn fits_number(operator: &str, left: &V<'_>, right: &V<'_>) -> bool {
    let whole = |v: &V<'_>| matches!(v, V::Int(_) | V::Char(_));
    let long = |v: &V<'_>| whole(v) || matches!(v, V::Long(_));
    if !long(left) || !long(right) {
        return true;
    }
    let (a, b) = (as_long(left), as_long(right));
    let found = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        _ => return true,
    };
    let is_int = whole(left) && whole(right);
    found.is_some_and(|found| !is_int || i32::try_from(found).is_ok())
}
