//! Dates read by a format, times in zones, and JSON read as a type.

use super::date::Date;
use super::operators;
use super::run::{Done, thrown};
use super::syntax::Type;
use super::text_method::plain;
use super::value::{MapKind, V};
use crate::moment::Moment;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Reads a date by a format of .NET's; `None`: it is not in that format.
fn by_format(text: &str, format: &str) -> Option<Date> {
    let mut parts = [1_i64, 1, 1, 0, 0, 0, 0];
    let (mut rest, mut form) = (text, format);
    let (mut is_afternoon, mut zone) = (None, None);
    while let Some(letter) = form.chars().next() {
        let run = form.chars().take_while(|next| *next == letter).count();
        form = form.get(run * letter.len_utf8()..)?;
        let mut number = |least: usize, most: usize| -> Option<i64> {
            let digits = rest
                .bytes()
                .take(most)
                .take_while(u8::is_ascii_digit)
                .count();
            let found = rest
                .get(..digits)
                .filter(|_| digits >= least)?
                .parse()
                .ok()?;
            rest = rest.get(digits..)?;
            Some(found)
        };
        match (letter, run) {
            ('y', 2) => parts[0] = 2_000 + number(2, 2)?,
            ('y', _) => parts[0] = number(run, 4)?,
            ('M', 1) => parts[1] = number(1, 2)?,
            ('M', 2) => parts[1] = number(2, 2)?,
            ('M', _) => {
                let lower = rest.to_lowercase();
                let named = |name: &&str| {
                    lower.starts_with(if run == 3 {
                        name.get(..3).unwrap_or(name)
                    } else {
                        *name
                    })
                };
                let at = MONTHS.iter().position(named)?;
                parts[1] = i64::try_from(at).ok()? + 1;
                rest = rest.get(if run == 3 { 3 } else { MONTHS.get(at)?.len() }..)?;
            }
            ('d', 1 | 2) => parts[2] = number(run, 2)?,
            ('d', _) => rest = rest.trim_start_matches(char::is_alphabetic),
            ('H' | 'h', _) => parts[3] = number(run.min(2), 2)?,
            ('m', _) => parts[4] = number(run.min(2), 2)?,
            ('s', _) => parts[5] = number(run.min(2), 2)?,
            ('f', _) => {
                let fraction = number(run, run)?;
                let power = u32::try_from(run).ok()?;
                parts[6] = fraction * 1_000 / 10_i64.checked_pow(power)?;
            }
            ('t', _) => {
                is_afternoon = Some(rest.starts_with(['P', 'p']));
                rest = rest.get(run.min(2)..)?;
            }
            ('z' | 'K', _) => {
                zone = Some(rest);
                rest = "";
            }
            ('\'', _) => {
                let (inside, after) = form.split_once('\'')?;
                (rest, form) = (rest.strip_prefix(inside)?, after);
            }
            ('\\', _) => {
                let escaped = form.chars().next()?;
                (rest, form) = (rest.strip_prefix(escaped)?, form.get(escaped.len_utf8()..)?);
            }
            (other, run) => {
                for _ in 0..run {
                    rest = rest.strip_prefix(other)?;
                }
            }
        }
    }
    if !rest.is_empty() {
        return None;
    }
    match is_afternoon {
        Some(true) if parts[3] < 12 => parts[3] += 12,
        Some(false) if parts[3] == 12 => parts[3] = 0,
        _ => {}
    }
    let date = Date::of(&parts)?;
    match zone {
        Some(zone) if !zone.is_empty() => Date::parse_plain(&format!("{}{zone}", date.json())),
        _ => Some(date),
    }
}

/// `DateTime.ParseExact` and its relatives.
pub(super) fn parse_exact<'p>(class: &str, name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
    let text = plain(arguments.first());
    let formats: Vec<String> = match arguments.get(1) {
        Some(V::List(list)) => list.items.borrow().iter().map(V::shown).collect(),
        format => vec![plain(format)],
    };
    let standard = |format: &str| match format {
        "d" => "MM/dd/yyyy".to_owned(),
        "s" => "yyyy-MM-ddTHH:mm:ss".to_owned(),
        "u" => "yyyy-MM-dd HH:mm:ss'Z'".to_owned(),
        "o" | "O" => "yyyy-MM-ddTHH:mm:ss.fffffffK".to_owned(),
        other => other.to_owned(),
    };
    let found = formats
        .iter()
        .find_map(|format| by_format(&text, &standard(format)));
    let found = found.map(|date| match class {
        "DateOnly" => V::Date(Date {
            part: super::date::Part::Day,
            ..date
        }),
        "TimeOnly" => V::Date(Date {
            part: super::date::Part::Clock,
            ..date
        }),
        "TimeSpan" => V::Span(date.ticks.rem_euclid(864_000_000_000)),
        "DateTimeOffset" => V::Date(Date {
            offset: Some(0),
            ..date
        }),
        _ => V::Date(date),
    });
    if name == "TryParseExact" {
        let has = V::Bool(found.is_some());
        let default = operators::default_of(&Type {
            name: class.to_owned(),
            ..Type::default()
        });
        return Ok(V::Tuple(std::rc::Rc::new(vec![
            (None, has),
            (None, found.unwrap_or(default)),
        ])));
    }
    let message = format!("String '{text}' was not recognized as a valid {class}.");
    found.map_or_else(|| thrown("FormatException", message), Ok)
}

/// `TimeZoneInfo`'s methods. A zone is its name.
pub(super) fn in_zone<'p>(name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
    let missing = |zone: &str| {
        let message = format!("The time zone ID '{zone}' was not found on the local computer.");
        thrown("TimeZoneNotFoundException", message)
    };
    let knows = |zone: &str| zone == "UTC" || Moment::new(0, 0).in_zone(zone).is_some();
    match (name, arguments) {
        ("FindSystemTimeZoneById", [zone, ..]) if knows(&zone.shown()) => Ok(zone.clone()),
        ("FindSystemTimeZoneById", [zone, ..]) => missing(&zone.shown()),
        (
            "ConvertTimeFromUtc" | "ConvertTime" | "ConvertTimeBySystemTimeZoneId",
            [V::Date(date), zone, ..],
        ) => {
            let zone = zone.shown();
            if zone == "UTC" {
                return Ok(V::Date(*date));
            }
            let Some(there) = Moment::new(date.unix_ms(), 0).in_zone(&zone) else {
                return missing(&zone);
            };
            let minutes = there.offset_minutes();
            let moved = date.seen_at(minutes);
            Ok(V::Date(if date.offset.is_some() {
                moved
            } else {
                Date {
                    offset: None,
                    is_utc: false,
                    ..moved
                }
            }))
        }
        ("ConvertTimeToUtc", [V::Date(date), ..]) => Ok(V::Date(Date::utc(date.unix_ms()))),
        _ => thrown(
            "CompilationErrorException",
            format!("'TimeZoneInfo.{name}' is not run here"),
        ),
    }
}

/// JSON that was read, as the type that was asked for.
pub(super) fn deserialized<'p>(value: V<'p>, of: &Type) -> Done<'p, V<'p>> {
    let wrong = || {
        let message = format!("The JSON value could not be converted to {}.", of.name);
        thrown("JsonException", message)
    };
    match (of.name.as_str(), &value) {
        (_, V::List(list)) if of.is_array || of.name == "List" => {
            let inner = Type {
                is_array: false,
                ..of.arguments.first().unwrap_or(of).clone()
            };
            let mut items = Vec::new();
            for item in list.items.borrow().iter() {
                items.push(deserialized(item.clone(), &inner)?);
            }
            Ok(if of.is_array {
                V::array(items)
            } else {
                V::list(items)
            })
        }
        ("Dictionary" | "IDictionary", V::Map(map)) => {
            let entries = map.entries.borrow();
            let mut made = Vec::new();
            for (key, value) in entries.iter() {
                let value = match of.arguments.get(1) {
                    Some(inner) => deserialized(value.clone(), inner)?,
                    None => value.clone(),
                };
                made.push((key.clone(), value));
            }
            Ok(V::map(MapKind::Dictionary, made))
        }
        ("int" | "long" | "double" | "decimal", V::Int(_) | V::Long(_) | V::Double(_)) => {
            if matches!((of.name.as_str(), &value), ("int" | "long", V::Double(_))) {
                return wrong();
            }
            operators::cast(value, of)
        }
        ("DateTime", V::Text(text)) => {
            Date::parse_plain(text).map_or_else(wrong, |date| Ok(V::Date(date)))
        }
        ("Guid", V::Text(text)) => Ok(V::Guid(text.clone())),
        ("string", V::Text(_) | V::Null) | ("bool", V::Bool(_)) => Ok(value),
        ("int" | "long" | "double" | "decimal" | "bool" | "string", _) => wrong(),
        ("object" | "JsonElement" | "dynamic", _) => {
            Ok(super::element::element(&value.to_json(false, 0)))
        }
        _ => Ok(value),
    }
}
