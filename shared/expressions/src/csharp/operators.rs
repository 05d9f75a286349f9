//! Operators, casts and comparisons.

use std::cmp::Ordering;

use super::decimal::Decimal;
use super::run::{Done, thrown};
use super::syntax::Type;
use super::value::{MapKind, V};

pub(super) fn unary<'p>(operator: &str, value: V<'p>) -> Done<'p, V<'p>> {
    Ok(match (operator, value) {
        ("!", V::Bool(flag)) => V::Bool(!flag),
        ("-", V::Int(number)) => V::Int(number.wrapping_neg()),
        ("-", V::Long(number)) => V::Long(number.wrapping_neg()),
        ("-", V::Double(number)) => V::Double(-number),
        ("-", V::Decimal(number)) => V::Decimal(number.negated()),
        ("-", V::Span(ticks)) => V::Span(-ticks),
        ("~", V::Int(number)) => V::Int(!number),
        ("+", value) => value,
        (_, V::Null) => V::Null,
        (_, other) => {
            let message = format!(
                "Operator '{operator}' cannot be applied to operand of type '{}'",
                other.type_name()
            );
            return thrown("CompilationErrorException", message);
        }
    })
}

pub(super) fn binary<'p>(operator: &str, left: &V<'p>, right: &V<'p>) -> Done<'p, V<'p>> {
    match operator {
        "==" => return Ok(V::Bool(equal(left, right))),
        "!=" => return Ok(V::Bool(!equal(left, right))),
        "+" if matches!(left, V::Text(_)) || matches!(right, V::Text(_)) => {
            return Ok(V::text(format!("{}{}", left.shown(), right.shown())));
        }
        _ => {}
    }
    let wrong = || {
        let message = format!(
            "Operator '{operator}' cannot be applied to operands of type '{}' and '{}'",
            left.type_name(),
            right.type_name()
        );
        thrown("CompilationErrorException", message)
    };
    if let Some(found) = on_dates(operator, left, right) {
        return Ok(found);
    }
    if let (V::Bool(a), V::Bool(b)) = (left, right) {
        return match operator {
            "&&" | "&" => Ok(V::Bool(*a && *b)),
            "||" | "|" => Ok(V::Bool(*a || *b)),
            "^" => Ok(V::Bool(a != b)),
            _ => wrong(),
        };
    }
    if matches!(operator, "<" | ">" | "<=" | ">=") {
        if matches!(left, V::Null) || matches!(right, V::Null) {
            return Ok(V::Bool(false));
        }
        let Some(order) = compare_numbers(left, right) else {
            return wrong();
        };
        return Ok(V::Bool(match operator {
            "<" => order == Ordering::Less,
            ">" => order == Ordering::Greater,
            "<=" => order != Ordering::Greater,
            _ => order != Ordering::Less,
        }));
    }
    match (rank(left), rank(right)) {
        (Some(a), Some(b)) => arithmetic(operator, left, right, a.max(b)),
        _ if matches!(left, V::Null) || matches!(right, V::Null) => Ok(V::Null),
        _ => wrong(),
    }
}

/// How much a kind of number holds; operators work on the larger.
fn rank(value: &V<'_>) -> Option<u8> {
    match value {
        V::Int(_) | V::Char(_) => Some(0),
        V::Long(_) => Some(1),
        V::Double(_) => Some(2),
        V::Decimal(_) => Some(3),
        _ => None,
    }
}

fn as_long(value: &V<'_>) -> i64 {
    match value {
        V::Int(number) => i64::from(*number),
        V::Long(number) => *number,
        V::Char(character) => i64::from(u32::from(*character)),
        _ => 0,
    }
}

#[allow(clippy::cast_precision_loss, reason = "as C# converts")]
pub(super) fn as_double(value: &V<'_>) -> Option<f64> {
    match value {
        V::Double(number) => Some(*number),
        V::Decimal(number) => Some(number.as_f64()),
        V::Int(_) | V::Long(_) | V::Char(_) => Some(as_long(value) as f64),
        _ => None,
    }
}

pub(super) fn as_decimal(value: &V<'_>) -> Option<Decimal> {
    match value {
        V::Decimal(number) => Some(*number),
        V::Double(number) => Decimal::from_f64(*number),
        V::Int(_) | V::Long(_) | V::Char(_) => Some(Decimal::whole(as_long(value))),
        V::Text(text) => Decimal::parse(text),
        _ => None,
    }
}

fn arithmetic<'p>(operator: &str, left: &V<'p>, right: &V<'p>, rank: u8) -> Done<'p, V<'p>> {
    let by_zero = || thrown("DivideByZeroException", "Attempted to divide by zero.");
    let wrong = || {
        thrown(
            "CompilationErrorException",
            format!("Operator '{operator}' cannot be applied to these numbers"),
        )
    };
    if rank <= 1 {
        return whole(operator, as_long(left), as_long(right), rank == 0).map_or_else(by_zero, Ok);
    }
    if rank == 2 {
        let (a, b) = (
            as_double(left).unwrap_or(f64::NAN),
            as_double(right).unwrap_or(f64::NAN),
        );
        return Ok(V::Double(match operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a / b,
            "%" => a % b,
            _ => return wrong(),
        }));
    }
    let (Some(a), Some(b)) = (as_decimal(left), as_decimal(right)) else {
        return thrown(
            "OverflowException",
            "Value was either too large or too small for a Decimal.",
        );
    };
    let found = match operator {
        "+" => a.add(b),
        "-" => a.add(b.negated()),
        "*" => a.multiply(b),
        "/" => a.divide(b),
        "%" => a.remainder(b),
        _ => return wrong(),
    };
    match found {
        Some(found) => Ok(V::Decimal(found)),
        None if matches!(operator, "/" | "%") => by_zero(),
        None => thrown(
            "OverflowException",
            "Value was either too large or too small for a Decimal.",
        ),
    }
}

/// `None`: it divides by zero. Whole numbers wrap, as C# does outside of `checked`.
fn whole<'p>(operator: &str, a: i64, b: i64, is_int: bool) -> Option<V<'p>> {
    let shift = u32::try_from(b & if is_int { 31 } else { 63 }).unwrap_or(0);
    let found = match operator {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b)?,
        "%" => a.checked_rem(b)?,
        "<<" => a.wrapping_shl(shift),
        ">>" => a.wrapping_shr(shift),
        "&" => a & b,
        "|" => a | b,
        _ => a ^ b,
    };
    #[allow(clippy::cast_possible_truncation, reason = "wraps, as C# does")]
    Some(if is_int {
        V::Int(found as i32)
    } else {
        V::Long(found)
    })
}

fn on_dates<'p>(operator: &str, left: &V<'p>, right: &V<'p>) -> Option<V<'p>> {
    let ordered = |order: Ordering| {
        Some(V::Bool(match operator {
            "<" => order == Ordering::Less,
            ">" => order == Ordering::Greater,
            "<=" => order != Ordering::Greater,
            ">=" => order != Ordering::Less,
            _ => return None,
        }))
    };
    match (left, right) {
        (V::Date(a), V::Date(b)) if operator == "-" => Some(V::Span(a.minus(*b))),
        (V::Date(a), V::Date(b)) => ordered(a.minus(*b).cmp(&0)),
        (V::Date(a), V::Span(b)) => match operator {
            "+" => a.plus(*b).map(V::Date),
            "-" => a.plus(-*b).map(V::Date),
            _ => None,
        },
        (V::Span(a), V::Span(b)) => match operator {
            "+" => Some(V::Span(a + b)),
            "-" => Some(V::Span(a - b)),
            _ => ordered(a.cmp(b)),
        },
        (V::Span(a), other) if matches!(operator, "*" | "/") => {
            let by = as_double(other)?;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "as .NET rounds"
            )]
            let found = if operator == "*" {
                *a as f64 * by
            } else {
                *a as f64 / by
            }
            .round() as i64;
            Some(V::Span(found))
        }
        _ => None,
    }
}

pub(super) fn equal<'p>(left: &V<'p>, right: &V<'p>) -> bool {
    match (left, right) {
        (V::Null, V::Null) => true,
        (V::Bool(a), V::Bool(b)) => a == b,
        (V::Text(a), V::Text(b)) | (V::Guid(a), V::Guid(b)) => a == b,
        (V::Enum(a), V::Enum(b)) | (V::Type(a), V::Type(b)) => a == b,
        (V::Date(a), V::Date(b)) => a.minus(*b) == 0,
        (V::Span(a), V::Span(b)) => a == b,
        (V::List(a), V::List(b)) => std::rc::Rc::ptr_eq(a, b),
        (V::Map(a), V::Map(b)) => {
            let members = |m: &super::value::Map<'p>| m.kind == MapKind::Anonymous;
            if !members(a) || !members(b) {
                return std::rc::Rc::ptr_eq(a, b);
            }
            let (a, b) = (a.entries.borrow(), b.entries.borrow());
            a.len() == b.len()
                && a.iter()
                    .zip(b.iter())
                    .all(|((k, v), (l, w))| equal(k, l) && equal(v, w))
        }
        (V::Tuple(a), V::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|((_, v), (_, w))| equal(v, w))
        }
        _ => compare_numbers(left, right) == Some(Ordering::Equal),
    }
}

fn compare_numbers(left: &V<'_>, right: &V<'_>) -> Option<Ordering> {
    match rank(left)?.max(rank(right)?) {
        0 | 1 => Some(as_long(left).cmp(&as_long(right))),
        2 => as_double(left)?.partial_cmp(&as_double(right)?),
        _ => Some(as_decimal(left)?.compare(as_decimal(right)?)),
    }
}

/// The order that sorting gives two values. Texts: letters before their case.
pub(super) fn compare(left: &V<'_>, right: &V<'_>) -> Ordering {
    match (left, right) {
        (V::Null, V::Null) => Ordering::Equal,
        (V::Null, _) => Ordering::Less,
        (_, V::Null) => Ordering::Greater,
        (V::Text(a), V::Text(b)) => {
            let letters = a.to_lowercase().cmp(&b.to_lowercase());
            letters.then_with(|| b.cmp(a))
        }
        (V::Date(a), V::Date(b)) => a.minus(*b).cmp(&0),
        (V::Span(a), V::Span(b)) => a.cmp(b),
        (V::Bool(a), V::Bool(b)) => a.cmp(b),
        _ => compare_numbers(left, right).unwrap_or(Ordering::Equal),
    }
}

/// Items of one array as the type that all of them fit in.
pub(super) fn unified(items: Vec<V<'_>>) -> Vec<V<'_>> {
    let has_double = items.iter().any(|i| matches!(i, V::Double(_)));
    let all_numbers = items
        .iter()
        .all(|i| matches!(i, V::Double(_) | V::Int(_) | V::Long(_)));
    if !has_double || !all_numbers {
        return items;
    }
    items
        .iter()
        .map(|i| as_double(i).map_or(V::Null, V::Double))
        .collect()
}

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
