//! Casts, and what a value is.

use super::decimal::Decimal;
use super::operators::{as_decimal, as_double, as_long};
use super::run::{Done, thrown};
use super::syntax::Type;
use super::value::{MapKind, V};

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
        ("int" | "short" | "byte" | "Int32", V::Int(_)) => value,
        ("int" | "Int32" | "short" | "byte", V::Long(number)) => V::Int(*number as i32),
        ("int" | "Int32" | "short" | "byte", V::Char(character)) => {
            V::Int(u32::from(*character).cast_signed())
        }
        ("int" | "Int32" | "short" | "byte", V::Double(_) | V::Decimal(_)) => {
            V::Int(as_double(&value).unwrap_or(0.0) as i32)
        }
        ("long" | "Int64", V::Int(_) | V::Long(_) | V::Char(_)) => V::Long(as_long(&value)),
        ("long" | "Int64", V::Double(_) | V::Decimal(_)) => {
            V::Long(as_double(&value).unwrap_or(0.0) as i64)
        }
        (
            "double" | "float" | "Double" | "Single",
            V::Int(_) | V::Long(_) | V::Double(_) | V::Decimal(_) | V::Char(_),
        ) => V::Double(as_double(&value).unwrap_or(f64::NAN)),
        ("decimal" | "Decimal", V::Int(_) | V::Long(_) | V::Double(_) | V::Decimal(_)) => {
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
        return matches!(value, V::List(list) if list.is_array);
    }
    match of.name.as_str() {
        "int" | "Int32" => matches!(value, V::Int(_)),
        "long" | "Int64" => matches!(value, V::Long(_)),
        "double" | "Double" | "float" => matches!(value, V::Double(_)),
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
        "IEnumerable" | "ICollection" | "IList" | "List" | "Array" | "JsonArray" => {
            matches!(value, V::List(_))
        }
        _ => false,
    }
}

pub(super) fn default_of<'p>(of: &Type) -> V<'p> {
    if of.is_array {
        return V::Null;
    }
    match of.name.as_str() {
        "int" | "short" | "byte" | "Int32" => V::Int(0),
        "long" | "Int64" => V::Long(0),
        "double" | "float" | "Double" => V::Double(0.0),
        "decimal" | "Decimal" => V::Decimal(Decimal::whole(0)),
        "bool" | "Boolean" => V::Bool(false),
        "char" => V::Char('\0'),
        "Guid" => V::Guid("00000000-0000-0000-0000-000000000000".into()),
        "TimeSpan" => V::Span(0),
        "DateTime" => V::Date(super::date::Date {
            ticks: 0,
            is_utc: false,
            offset: None,
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
        other => other,
    };
    if of.is_array {
        format!("{name}[]")
    } else {
        name.to_owned()
    }
}
