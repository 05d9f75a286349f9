//! Operators and comparisons.

use std::cmp::Ordering;

use super::decimal::Decimal;
use super::run::{Done, thrown};
pub(super) use super::types::{cast, check_range, default_of, fits_number, full_name, is_type};
use super::value::{MapKind, V};

pub(super) fn unary<'p>(operator: &str, value: V<'p>) -> Done<'p, V<'p>> {
    Ok(match (operator, value) {
        ("!", V::Bool(flag)) => V::Bool(!flag),
        ("-", V::Int(number)) => V::Int(number.wrapping_neg()),
        ("-", V::Long(number)) => V::Long(number.wrapping_neg()),
        ("-", V::Single(number)) => V::Single(-number),
        ("-", V::Double(number)) => V::Double(-number),
        ("-", V::Char(c)) => V::Int(-u32::from(c).cast_signed()),
        ("~", V::Long(number)) => V::Long(!number),
        ("~", V::Enum(member)) => V::Enum(super::value::Member {
            number: !member.number,
            ..member
        }),
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
    if let (V::Enum(a), other) = (left, right) {
        let number = match other {
            V::Enum(b) if a.class == b.class => Some(b.number),
            V::Int(number) => Some(i64::from(*number)),
            _ => None,
        };
        return match number.and_then(|b| whole(operator, a.number, b, false)) {
            Some(V::Long(number)) => Ok(super::enumeration::enum_of(&a.class, number)),
            _ => wrong(),
        };
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
        V::Single(_) => Some(2),
        V::Double(_) => Some(3),
        V::Decimal(_) => Some(4),
        _ => None,
    }
}

pub(super) fn as_long(value: &V<'_>) -> i64 {
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
        V::Single(number) => Some(f64::from(*number)),
        V::Double(number) => Some(*number),
        V::Decimal(number) => Some(number.as_f64()),
        V::Int(_) | V::Long(_) | V::Char(_) => Some(as_long(value) as f64),
        _ => None,
    }
}

pub(super) fn as_decimal(value: &V<'_>) -> Option<Decimal> {
    match value {
        V::Decimal(number) => Some(*number),
        V::Single(_) => value.shown().parse().ok().and_then(Decimal::from_f64),
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
    if rank == 4
        && (matches!(left, V::Double(_) | V::Single(_))
            || matches!(right, V::Double(_) | V::Single(_)))
    {
        return wrong();
    }
    if rank <= 3 {
        let (a, b) = (
            as_double(left).unwrap_or(f64::NAN),
            as_double(right).unwrap_or(f64::NAN),
        );
        let found = match operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a / b,
            "%" => a % b,
            _ => return wrong(),
        };
        #[allow(
            clippy::cast_possible_truncation,
            reason = "floats are worked with as floats"
        )]
        return Ok(if rank == 2 {
            V::Single(found as f32)
        } else {
            V::Double(found)
        });
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
        ">>>" if is_int => i64::from((a as i32).cast_unsigned().wrapping_shr(shift).cast_signed()),
        ">>>" => a.cast_unsigned().wrapping_shr(shift).cast_signed(),
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
            "/" => Some(V::Double(super::methods::ratio(*a, *b))),
            _ => ordered(a.cmp(b)),
        },
        (other, V::Span(_)) if operator == "*" && as_double(other).is_some() => {
            on_dates(operator, right, left)
        }
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
        (V::Enum(a), V::Enum(b)) => a.number == b.number,
        (V::Type(a), V::Type(b)) => a == b,
        (V::Date(a), V::Date(b)) => a.minus(*b) == 0,
        (V::Span(a), V::Span(b)) => a == b,
        (V::Object(a), V::Object(b)) => std::rc::Rc::ptr_eq(a, b) || a.equals(b),
        (V::Class(a), V::Class(b)) => std::rc::Rc::ptr_eq(a, b),
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
        2 | 3 => as_double(left)?.partial_cmp(&as_double(right)?),
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
        (V::Enum(a), V::Enum(b)) => a.number.cmp(&b.number),
        (V::Guid(a), V::Guid(b)) => a.cmp(b),
        (V::Tuple(a), V::Tuple(b)) => {
            let pairs = a.iter().zip(b.iter());
            let orders = pairs.map(|((_, a), (_, b))| compare(a, b));
            orders
                .into_iter()
                .find(|o| *o != Ordering::Equal)
                .unwrap_or(Ordering::Equal)
        }
        _ => compare_numbers(left, right).unwrap_or(Ordering::Equal),
    }
}

/// A key as a comparer such as `StringComparer.Ordinal` sees it, so that the plain order is the comparer's.
pub(super) fn collated<'p>(key: V<'p>, comparer: Option<&V<'p>>) -> V<'p> {
    let V::Text(text) = &key else {
        return key;
    };
    match comparer {
        Some(V::Enum(member)) if member.name.ends_with("IgnoreCase") => {
            V::text(text.to_lowercase())
        }
        // Its units, as a list of numbers, are in the order of the code points.
        Some(V::Enum(member)) if &*member.name == "Ordinal" => {
            let units = text.encode_utf16().map(|unit| format!("{unit:04x}"));
            V::text(units.collect::<String>())
        }
        _ => key,
    }
}

/// Whether two values are equal to a comparer.
pub(super) fn equal_under<'p>(left: &V<'p>, right: &V<'p>, comparer: Option<&V<'p>>) -> bool {
    match (left, right, comparer) {
        (V::Text(a), V::Text(b), Some(V::Enum(m))) if m.name.ends_with("IgnoreCase") => {
            a.to_lowercase() == b.to_lowercase()
        }
        _ => equal(left, right),
    }
}

/// Items of one array as the type that all of them fit in.
pub(super) fn unified(items: Vec<V<'_>>) -> Vec<V<'_>> {
    let has_decimal = items.iter().any(|i| matches!(i, V::Decimal(_)));
    if has_decimal
        && items
            .iter()
            .all(|i| matches!(i, V::Decimal(_) | V::Int(_) | V::Long(_)))
    {
        let decimal = |i: &V<'_>| as_decimal(i);
        return items
            .iter()
            .map(|i| decimal(i).map_or(V::Null, V::Decimal))
            .collect();
    }
    let has_long = items.iter().any(|i| matches!(i, V::Long(_)));
    if has_long && items.iter().all(|i| matches!(i, V::Int(_) | V::Long(_))) {
        return items.iter().map(|i| V::Long(as_long(i))).collect();
    }
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
