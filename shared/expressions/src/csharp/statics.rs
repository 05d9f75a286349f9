//! Static members, types of the workflow's values, and formats.

use serde_json::Value;

use super::date::{Date, TICKS_A_MS};
use super::decimal::Decimal;
use super::operators;
use super::run::{Done, Run, thrown};
use super::syntax::Type;
use super::value::{MapKind, V};
use crate::Kind;
use crate::dotnet::{Span, format_number};

/// An entry of a map by its name, or null.
pub(super) fn entry<'p>(of: &V<'p>, name: &str) -> V<'p> {
    let V::Map(map) = of else {
        return V::Null;
    };
    let entries = map.entries.borrow();
    let found = entries.iter().find(|(key, _)| key.shown() == name);
    found.map_or(V::Null, |(_, value)| value.clone())
}

pub(super) fn set_entry<'p>(of: &V<'p>, key: V<'p>, value: V<'p>) {
    if let V::Map(map) = of {
        let mut entries = map.entries.borrow_mut();
        match entries
            .iter_mut()
            .find(|(known, _)| operators::equal(known, &key))
        {
            Some((_, old)) => *old = value,
            None => entries.push((key, value)),
        }
    }
}

/// A value of the workflow as its declared type has it.
pub(super) fn typed<'p>(value: &Value, of: &str, kind: Kind) -> V<'p> {
    if let Value::String(text) = value {
        let found = match kind {
            Kind::DateTime if of == "DateTimeOffset" => Date::parse(text).map(|d| {
                V::Date(Date {
                    offset: d.offset.or(Some(0)),
                    ..d
                })
            }),
            Kind::DateTime => Date::parse_plain(text).map(V::Date),
            Kind::TimeSpan => text
                .parse::<Span>()
                .ok()
                .map(|Span(ms)| V::Span(ms * TICKS_A_MS)),
            Kind::Guid => Some(V::Guid(text.as_str().into())),
            Kind::Plain
            | Kind::Double
            | Kind::Bytes
            | Kind::Json
            | Kind::Dictionary
            | Kind::Node
            | Kind::ListOfJson
            | Kind::Texts
            | Kind::BigInteger
            | Kind::Function
            | Kind::Opaque => None,
        };
        return found.unwrap_or_else(|| V::text(text.as_str()));
    }
    if kind == Kind::Json {
        return super::element::object_of_elements(value, MapKind::Expando);
    }
    let kind = match of {
        "Dictionary" => MapKind::Dictionary,
        "JsonObject" => MapKind::Node,
        _ => MapKind::Expando,
    };
    let value = V::from_json(value, kind);
    match (of, &value) {
        ("Double", V::Int(_) | V::Long(_)) => {
            operators::as_double(&value).map_or(V::Null, V::Double)
        }
        ("Decimal", V::Int(_) | V::Long(_) | V::Double(_)) => {
            operators::as_decimal(&value).map_or(V::Null, V::Decimal)
        }
        #[allow(clippy::cast_possible_truncation, reason = "a float was stored")]
        ("Single", V::Int(_) | V::Long(_) | V::Double(_)) => {
            operators::as_double(&value).map_or(V::Null, |number| V::Single(number as f32))
        }
        ("Int64", V::Int(number)) => V::Long(i64::from(*number)),
        _ => value,
    }
}

/// A value converted to a type, as `Get<T>` does.
pub(super) fn convert<'p>(value: V<'p>, of: &Type) -> Done<'p, V<'p>> {
    if of.is_array || !of.arguments.is_empty() || matches!(value, V::Null) {
        return Ok(value);
    }
    let text = value.shown();
    Ok(match of.name.as_str() {
        "string" | "String" => V::text(text),
        "int" | "Int32" | "long" | "Int64" if matches!(value, V::Text(_)) => {
            return parsed(&operators::full_name(of), &text).map_or_else(|| Ok(V::Int(0)), Ok);
        }
        "double" | "decimal" | "bool" if matches!(value, V::Text(_)) => {
            parsed(&operators::full_name(of), &text).unwrap_or_else(|| operators::default_of(of))
        }
        "DateTime" => Date::parse_plain(&text).map_or(value, V::Date),
        "Guid" => V::Guid(text.into()),
        _ => return operators::cast(value, of),
    })
}

pub(super) fn parsed<'p>(class: &str, text: &str) -> Option<V<'p>> {
    let text = text.trim();
    match class {
        "Int32" => text.parse().ok().map(V::Int),
        "Int16" => text.parse::<i16>().ok().map(|n| V::Int(i32::from(n))),
        "Byte" => text.parse::<u8>().ok().map(|n| V::Int(i32::from(n))),
        "UInt32" => text.parse::<u32>().ok().map(|n| V::Long(i64::from(n))),
        "Single" => text.replace(',', "").parse().ok().map(V::Single),
        "Char" if text.chars().count() == 1 => text.chars().next().map(V::Char),
        "DateOnly" => Date::parse_plain(text).map(|date| {
            V::Date(Date {
                part: super::date::Part::Day,
                ..date
            })
        }),
        "TimeOnly" => Date::parse_plain(&format!("2000-01-01T{text}")).map(|date| {
            V::Date(Date {
                part: super::date::Part::Clock,
                ..date
            })
        }),
        "Version" => Some(V::text(text)),
        "Int64" => text.parse().ok().map(V::Long),
        "Double" => text.replace(',', "").parse().ok().map(V::Double),
        "Decimal" => Decimal::parse(&text.replace(',', "")).map(V::Decimal),
        "Boolean" if text.eq_ignore_ascii_case("true") => Some(V::Bool(true)),
        "Boolean" if text.eq_ignore_ascii_case("false") => Some(V::Bool(false)),
        "DateTime" => Date::parse_plain(text).map(V::Date),
        "DateTimeOffset" => Date::parse(text).map(|d| {
            V::Date(Date {
                offset: d.offset.or(Some(0)),
                ..d
            })
        }),
        "TimeSpan" => text
            .parse::<Span>()
            .ok()
            .map(|Span(ms)| V::Span(ms * TICKS_A_MS)),
        "Guid" => {
            let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
            let part =
                |from: usize, to: usize| digits.get(from..to).unwrap_or_default().to_lowercase();
            let parts = [
                part(0, 8),
                part(8, 12),
                part(12, 16),
                part(16, 20),
                part(20, 32),
            ];
            (digits.len() == 32).then(|| V::Guid(parts.join("-").into()))
        }
        _ => None,
    }
}

/// A value as text in a format of .NET's; an empty one is none.
pub(super) fn formatted(value: &V<'_>, format: &str) -> String {
    if format.is_empty() {
        return value.shown();
    }
    match value {
        V::Date(date) => date.formatted(format),
        V::Guid(text) => match format.to_ascii_lowercase().as_str() {
            "n" => text.replace('-', ""),
            "b" => format!("{{{text}}}"),
            "p" => format!("({text})"),
            _ => text.to_string(),
        },
        V::Enum(member) if matches!(format, "d" | "D") => member.number.to_string(),
        V::Decimal(number) => crate::dotnet::format_exact(&number.text(), format),
        V::Int(_) | V::Long(_) => crate::dotnet::format_exact(&value.shown(), format),
        V::Span(ticks) => span_formatted(*ticks, format),
        _ => match operators::as_double(value) {
            Some(number) if !matches!(value, V::Char(_)) => format_number(number, format),
            _ => value.shown(),
        },
    }
}

/// A length of time in a format: `hh`, `mm`, `ss`, `d` and `f` with escaped characters between them.
fn span_formatted(ticks: i64, format: &str) -> String {
    let total = ticks.unsigned_abs();
    let seconds = total / 10_000_000;
    let sign = if ticks < 0 { "-" } else { "" };
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match format {
        "c" | "t" | "T" => return super::date::span_text(ticks),
        "g" | "G" => {
            let fraction = format!("{:07}", total % 10_000_000);
            let fraction = if format == "g" {
                fraction.trim_end_matches('0')
            } else {
                &fraction
            };
            let point = if fraction.is_empty() { "" } else { "." };
            let rest = format!("{minutes:02}:{:02}{point}{fraction}", seconds % 60);
            return match (format, days) {
                ("g", 0) => format!("{sign}{hours}:{rest}"),
                ("g", _) => format!("{sign}{days}:{hours}:{rest}"),
                _ => format!("{sign}{days}:{hours:02}:{rest}"),
            };
        }
        _ => {}
    }
    let mut text = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        let number = match c {
            'd' => days,
            'h' => hours,
            'm' => minutes,
            's' => seconds % 60,
            'f' | 'F' => total % 10_000_000,
            '\\' => {
                text.extend(rest.next());
                continue;
            }
            '\'' | '"' => {
                text.extend(rest.by_ref().take_while(|inside| *inside != c));
                continue;
            }
            '%' => continue,
            other => {
                text.push(other);
                continue;
            }
        };
        let mut run = 1;
        while rest.next_if_eq(&c).is_some() {
            run += 1;
        }
        if c.eq_ignore_ascii_case(&'f') {
            let digits = format!("{number:07}");
            let digits = digits.get(..run.min(7)).unwrap_or_default();
            text.push_str(if c == 'F' {
                digits.trim_end_matches('0')
            } else {
                digits
            });
        } else {
            text.push_str(&format!("{number:0run$}"));
        }
    }
    text
}

fn decimal<'p>(digits: &str) -> V<'p> {
    Decimal::parse(digits).map_or(V::Null, V::Decimal)
}

/// What `await` gives a value of.
pub(super) fn task<'p>(result: V<'p>) -> V<'p> {
    V::anonymous(vec![("Result", result), ("$task", V::Bool(true))])
}

pub(super) fn static_member<'p>(run: &mut Run<'_>, class: &str, name: &str) -> Done<'p, V<'p>> {
    let now = |run: &Run<'_>| Date::utc(run.scope.now_ms());
    let date = |ticks: i64| {
        V::Date(Date {
            ticks,
            is_utc: false,
            offset: (class == "DateTimeOffset").then_some(0),
            part: super::date::Part::Whole,
        })
    };
    Ok(match (class, name) {
        ("String" | "string", "Empty") => V::text(""),
        ("DateTime", "Now" | "UtcNow") => V::Date(now(run)),
        ("DateTimeOffset", "Now" | "UtcNow") => V::Date(Date {
            offset: Some(0),
            ..now(run)
        }),
        ("DateTime", "Today") => {
            let now = now(run);
            date(now.ticks - now.ticks.rem_euclid(864_000_000_000))
        }
        ("DateTime" | "DateTimeOffset", "MinValue") => date(0),
        ("DateTime" | "DateTimeOffset", "MaxValue") => date(3_155_378_975_999_999_999),
        ("DateTime" | "DateTimeOffset", "UnixEpoch") => V::Date(Date::utc(0)),
        ("TimeSpan", "Zero") => V::Span(0),
        ("Guid", "Empty") => operators::default_of(&Type {
            name: "Guid".into(),
            ..Type::default()
        }),
        ("Int32" | "int", "MaxValue") => V::Int(i32::MAX),
        ("Int32" | "int", "MinValue") => V::Int(i32::MIN),
        ("Int64" | "long", "MaxValue") => V::Long(i64::MAX),
        ("Int64" | "long", "MinValue") => V::Long(i64::MIN),
        ("Double" | "double", "MaxValue") => V::Double(f64::MAX),
        ("Double" | "double", "MinValue") => V::Double(f64::MIN),
        ("Double" | "double", "NaN") => V::Double(f64::NAN),
        ("Double" | "double", "PositiveInfinity") => V::Double(f64::INFINITY),
        ("Double" | "double", "NegativeInfinity") => V::Double(f64::NEG_INFINITY),
        ("Double" | "double", "Epsilon") => V::Double(5e-324),
        ("Single" | "float", "MaxValue") => V::Single(f32::MAX),
        ("Byte" | "byte", "MaxValue") => V::Int(255),
        ("Byte" | "byte" | "UInt32" | "uint", "MinValue") => V::Int(0),
        ("SByte" | "sbyte", "MaxValue") => V::Int(127),
        ("Int16" | "short", "MaxValue") => V::Int(32_767),
        ("Int16" | "short", "MinValue") => V::Int(-32_768),
        ("UInt16" | "ushort", "MaxValue") => V::Int(65_535),
        ("UInt32" | "uint", "MaxValue") => V::Long(4_294_967_295),
        ("UInt64" | "ulong", "MaxValue") => decimal("18446744073709551615"),
        ("Decimal" | "decimal", "MaxValue") => decimal("79228162514264337593543950335"),
        ("Decimal" | "decimal", "MinValue") => decimal("-79228162514264337593543950335"),
        ("Decimal" | "decimal", "One") => decimal("1"),
        ("Decimal" | "decimal", "Zero") => decimal("0"),
        ("Decimal" | "decimal", "MinusOne") => decimal("-1"),
        ("Char" | "char", "MaxValue") => V::Char('\u{ffff}'),
        ("Math", "Tau") => V::Double(std::f64::consts::TAU),
        ("TimeSpan", "MaxValue") => V::Span(i64::MAX),
        ("TimeSpan", "MinValue") => V::Span(i64::MIN),
        ("TimeSpan", "TicksPerDay") => V::Long(864_000_000_000),
        ("TimeSpan", "TicksPerHour") => V::Long(36_000_000_000),
        ("TimeSpan", "TicksPerMinute") => V::Long(600_000_000),
        ("TimeSpan", "TicksPerSecond") => V::Long(10_000_000),
        ("TimeSpan", "TicksPerMillisecond") => V::Long(10_000),
        ("Boolean" | "bool", "TrueString") => V::text("True"),
        ("Boolean" | "bool", "FalseString") => V::text("False"),
        ("TimeZoneInfo", "Utc" | "Local") => V::text("UTC"),
        ("Task", "CompletedTask") => task(V::Null),
        ("BitConverter", "IsLittleEndian") => V::Bool(true),
        ("Math", "PI") => V::Double(std::f64::consts::PI),
        ("Math", "E") => V::Double(std::f64::consts::E),
        ("Environment", "NewLine") => V::text("\n"),
        ("Random", "Shared") => V::Random,
        ("Console", "Out") => V::Host("Console"),
        ("Encoding", "UTF8" | "ASCII" | "Unicode") => V::Type("UTF8".into()),
        ("CultureInfo", _) => V::member("CultureInfo", name, 0),
        ("Type", "Name") => V::text(class),
        _ => {
            match super::enumeration::known_member(class, name) {
                Some(Some(member)) => return Ok(member),
                Some(None) => {}
                None => match name {
                    "Name" => return Ok(V::text(class)),
                    "FullName" => return Ok(V::text(format!("System.{class}"))),
                    "Namespace" => return Ok(V::text("System")),
                    "IsValueType" => {
                        let none = Type {
                            name: class.to_owned(),
                            ..Type::default()
                        };
                        return Ok(V::Bool(!matches!(operators::default_of(&none), V::Null)));
                    }
                    _ => {}
                },
            }
            return thrown(
                "CompilationErrorException",
                format!("'{class}' does not contain a definition for '{name}'"),
            );
        }
    })
}
