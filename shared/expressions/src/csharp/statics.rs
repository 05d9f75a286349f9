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

const TYPES: [&str; 40] = [
    "Math",
    "Convert",
    "String",
    "Guid",
    "DateTime",
    "DateTimeOffset",
    "TimeSpan",
    "DateOnly",
    "Int32",
    "Int64",
    "Double",
    "Decimal",
    "Boolean",
    "Char",
    "Enumerable",
    "Array",
    "JsonSerializer",
    "JsonNode",
    "JsonObject",
    "JsonArray",
    "Random",
    "Uri",
    "Encoding",
    "Regex",
    "Environment",
    "StringComparison",
    "StringSplitOptions",
    "DateTimeKind",
    "DayOfWeek",
    "MidpointRounding",
    "CultureInfo",
    "StringComparer",
    "Object",
    "Exception",
    "Task",
    "Console",
    "JsonValue",
    "Path",
    "Single",
    "Byte",
];

pub(super) fn is_type(name: &str) -> bool {
    TYPES.contains(&name)
}

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
        "Int32" | "Int16" | "Byte" => text.parse().ok().map(V::Int),
        "Int64" => text.parse().ok().map(V::Long),
        "Double" | "Single" => text.replace(',', "").parse().ok().map(V::Double),
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
        V::Guid(text) if format.eq_ignore_ascii_case("n") => text.replace('-', ""),
        V::Span(ticks) => span_formatted(*ticks, format),
        _ => match operators::as_double(value) {
            Some(number) if !matches!(value, V::Char(_)) => format_number(number, format),
            _ => value.shown(),
        },
    }
}

fn span_formatted(ticks: i64, format: &str) -> String {
    if matches!(format, "c" | "g" | "G" | "t") {
        return super::date::span_text(ticks);
    }
    let seconds = ticks.abs() / 10_000_000;
    let parts = [
        ("hh", seconds / 3_600 % 24),
        ("mm", seconds / 60 % 60),
        ("ss", seconds % 60),
        ("dd", seconds / 86_400),
    ];
    let text = parts
        .iter()
        .fold(format.to_owned(), |text, (mark, number)| {
            text.replace(mark, &format!("{number:02}"))
        });
    text.replace(['\\', '\''], "")
}

pub(super) fn static_member<'p>(run: &mut Run<'_>, class: &str, name: &str) -> Done<'p, V<'p>> {
    let now = |run: &Run<'_>| Date::utc(run.scope.now_ms());
    let date = |ticks: i64| {
        V::Date(Date {
            ticks,
            is_utc: false,
            offset: (class == "DateTimeOffset").then_some(0),
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
        ("Math", "PI") => V::Double(std::f64::consts::PI),
        ("Math", "E") => V::Double(std::f64::consts::E),
        ("Environment", "NewLine") => V::text("\n"),
        ("Random", "Shared") => V::Random,
        ("Console", "Out") => V::Host("Console"),
        ("Encoding", "UTF8" | "ASCII" | "Unicode") => V::Type("UTF8".into()),
        ("CultureInfo", _) => V::Enum("CultureInfo".into()),
        (
            "StringComparison" | "StringSplitOptions" | "DateTimeKind" | "DayOfWeek"
            | "MidpointRounding" | "StringComparer",
            member,
        ) => V::Enum(member.to_owned()),
        (_, "Name") => V::text(class),
        (_, "FullName") => V::text(format!("System.{class}")),
        _ => {
            return thrown(
                "CompilationErrorException",
                format!("'{class}' does not contain a definition for '{name}'"),
            );
        }
    })
}
