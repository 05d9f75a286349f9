//! Static members, constructors, conversions and formats.

use serde_json::Value;

use super::date::{Date, TICKS_A_MS};
use super::decimal::Decimal;
use super::methods::span_of_ms;
use super::operators;
use super::run::{Done, Run, thrown};
use super::syntax::Type;
use super::value::{MapKind, V};
use crate::Kind;
use crate::dotnet::{Span, format_number, json_text};

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
            Kind::Plain | Kind::Double | Kind::Bytes => None,
        };
        return found.unwrap_or_else(|| V::text(text.as_str()));
    }
    let kind = if of == "Dictionary" {
        MapKind::Dictionary
    } else {
        MapKind::Expando
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

fn parsed<'p>(class: &str, text: &str) -> Option<V<'p>> {
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
    text.replace('\\', "").replace('\'', "")
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

impl Run<'_> {
    pub(super) fn construct<'p>(&mut self, of: &Type, arguments: Vec<V<'p>>) -> Done<'p, V<'p>> {
        let numbers: Vec<i64> = arguments
            .iter()
            .filter_map(operators::as_double)
            .map(|n| n as i64)
            .collect();
        let first = arguments.first().cloned().unwrap_or(V::Null);
        let text = |at: usize| arguments.get(at).map(V::shown).unwrap_or_default();
        Ok(match of.name.as_str() {
            "List" | "HashSet" | "Stack" | "Queue" | "ArrayList" => {
                let items = if matches!(first, V::List(_)) {
                    self.items(&first)?
                } else {
                    Vec::new()
                };
                V::list(items)
            }
            "Dictionary" | "SortedDictionary" => {
                let entries = match &first {
                    V::Map(map) => map.entries.borrow().clone(),
                    _ => Vec::new(),
                };
                V::map(MapKind::Dictionary, entries)
            }
            "ExpandoObject" => V::map(MapKind::Expando, Vec::new()),
            "JsonObject" => V::map(MapKind::Node, Vec::new()),
            "JsonArray" => V::array(arguments),
            "JsonSerializerOptions" => V::map(MapKind::Anonymous, Vec::new()),
            "KeyValuePair" => V::anonymous(vec![
                ("Key", first),
                ("Value", arguments.get(1).cloned().unwrap_or(V::Null)),
            ]),
            "DateTime" | "DateTimeOffset" | "DateOnly" => {
                let is_utc = arguments
                    .iter()
                    .any(|a| matches!(a, V::Enum(kind) if kind == "Utc"));
                let date = if numbers.is_empty() {
                    Some(Date {
                        ticks: 0,
                        is_utc: false,
                        offset: None,
                    })
                } else {
                    Date::of(&numbers)
                };
                let Some(date) = date else {
                    return thrown(
                        "ArgumentOutOfRangeException",
                        "Year, Month, and Day parameters describe an un-representable DateTime.",
                    );
                };
                let offset = arguments.iter().find_map(|a| {
                    if let V::Span(ticks) = a {
                        Some(*ticks)
                    } else {
                        None
                    }
                });
                let minutes =
                    offset.and_then(|ticks| i32::try_from(ticks / (60_000 * TICKS_A_MS)).ok());
                V::Date(Date {
                    is_utc,
                    offset: if of.name == "DateTimeOffset" {
                        minutes.or(Some(0))
                    } else {
                        None
                    },
                    ..date
                })
            }
            "TimeSpan" => {
                let parts = match numbers.as_slice() {
                    [ticks] => return Ok(V::Span(*ticks)),
                    [h, m, s] => [0, *h, *m, *s, 0],
                    [d, h, m, s] => [*d, *h, *m, *s, 0],
                    [d, h, m, s, ms, ..] => [*d, *h, *m, *s, *ms],
                    _ => [0; 5],
                };
                let [d, h, m, s, ms] = parts;
                V::Span(((((d * 24 + h) * 60 + m) * 60 + s) * 1_000 + ms) * TICKS_A_MS)
            }
            "Random" => V::Random,
            "Guid" if arguments.is_empty() => operators::default_of(of),
            "Guid" => parsed("Guid", &text(0)).unwrap_or(V::Null),
            "string" | "String" => {
                let times = numbers
                    .last()
                    .and_then(|n| usize::try_from(*n).ok())
                    .unwrap_or(1)
                    .min(1 << 20);
                match &first {
                    V::List(list) => {
                        V::text(list.items.borrow().iter().map(V::shown).collect::<String>())
                    }
                    _ => V::text(text(0).repeat(times)),
                }
            }
            "Uri" => {
                let address = text(0);
                let rest = address.split_once("://").map_or("", |(_, rest)| rest);
                let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
                let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
                let parts = [
                    ("Host", host),
                    ("AbsolutePath", path),
                    ("Query", query),
                    ("AbsoluteUri", &address),
                ];
                V::map(
                    MapKind::Expando,
                    parts
                        .into_iter()
                        .map(|(k, v)| (V::text(k), V::text(v)))
                        .collect(),
                )
            }
            name if name.ends_with("Exception") => {
                V::anonymous(vec![("Message", V::text(text(0))), ("Type", V::text(name))])
            }
            "" | "object" | "Object" => V::map(MapKind::Anonymous, Vec::new()),
            name => {
                return thrown(
                    "CompilationErrorException",
                    format!("`new {name}` is not run here"),
                );
            }
        })
    }

    pub(super) fn static_call<'p>(
        &mut self,
        class: &str,
        name: &str,
        types: &[Type],
        arguments: Vec<V<'p>>,
    ) -> Done<'p, V<'p>> {
        let text = |at: usize| arguments.get(at).map(V::shown).unwrap_or_default();
        let first = arguments.first().cloned().unwrap_or(V::Null);
        let full = operators::full_name(&Type {
            name: class.to_owned(),
            ..Type::default()
        });
        match (full.as_str(), name) {
            (_, "Parse") if full != "JsonNode" => {
                let bad = || {
                    thrown(
                        "FormatException",
                        format!(
                            "The input string '{}' was not in a correct format.",
                            text(0)
                        ),
                    )
                };
                parsed(&full, &text(0)).map_or_else(bad, Ok)
            }
            (_, "TryParse") => {
                let found = parsed(&full, &text(0));
                let has = V::Bool(found.is_some());
                let default = operators::default_of(&Type {
                    name: class.to_owned(),
                    ..Type::default()
                });
                Ok(V::Tuple(std::rc::Rc::new(vec![
                    (None, has),
                    (None, found.unwrap_or(default)),
                ])))
            }
            ("Math", _) => math(name, &arguments),
            ("Convert", _) => conversion(name, &arguments),
            ("String", _) => self.string_call(name, &arguments),
            ("Char", _) => {
                let c = text(0).chars().next().unwrap_or(' ');
                Ok(match name {
                    "IsDigit" | "IsNumber" => V::Bool(c.is_numeric()),
                    "IsLetter" => V::Bool(c.is_alphabetic()),
                    "IsLetterOrDigit" => V::Bool(c.is_alphanumeric()),
                    "IsWhiteSpace" => V::Bool(c.is_whitespace()),
                    "IsUpper" => V::Bool(c.is_uppercase()),
                    "IsLower" => V::Bool(c.is_lowercase()),
                    "ToUpper" | "ToUpperInvariant" => V::Char(c.to_ascii_uppercase()),
                    _ => V::Char(c.to_ascii_lowercase()),
                })
            }
            ("Guid", "NewGuid") => {
                let (a, b) = (self.scope.random(), self.scope.random());
                let text = format!("{a:016x}{b:016x}");
                Ok(parsed("Guid", &text).unwrap_or(V::Null))
            }
            ("TimeSpan", _) => {
                let amount = operators::as_double(&first).unwrap_or(0.0);
                let unit = match name {
                    "FromDays" => 86_400_000.0,
                    "FromHours" => 3_600_000.0,
                    "FromMinutes" => 60_000.0,
                    "FromSeconds" => 1_000.0,
                    _ => 1.0,
                };
                Ok(span_of_ms(amount * unit))
            }
            ("DateTime", "IsLeapYear") => Ok(V::Bool(Date::of(&[whole(&first), 2, 29]).is_some())),
            ("DateTime", "DaysInMonth") => {
                let days = (28..=31).rev().find(|day| {
                    Date::of(&[whole(&first), arguments.get(1).map_or(1, whole), *day]).is_some()
                });
                Ok(V::Int(
                    days.and_then(|d| i32::try_from(d).ok()).unwrap_or(0),
                ))
            }
            ("DateOnly", "FromDateTime") => match &first {
                V::Date(date) => Ok(V::text(date.formatted("yyyy-MM-dd"))),
                _ => Ok(V::Null),
            },
            ("DateTimeOffset", "FromUnixTimeSeconds") => Ok(V::Date(Date {
                offset: Some(0),
                ..Date::utc(whole(&first).saturating_mul(1_000))
            })),
            ("DateTimeOffset", "FromUnixTimeMilliseconds") => Ok(V::Date(Date {
                offset: Some(0),
                ..Date::utc(whole(&first))
            })),
            ("Enumerable", "Range" | "Repeat" | "Empty") => {
                let times = usize::try_from(arguments.get(1).map_or(0, whole)).unwrap_or(0);
                if !self.budget.allocate(times.saturating_mul(32)) {
                    return Err(super::run::Stop::Limit);
                }
                self.charge(times)?;
                let item = |at: usize| {
                    if name == "Range" {
                        operators::binary("+", &first, &super::members::count(at))
                    } else {
                        Ok(first.clone())
                    }
                };
                Ok(V::array(
                    (0..times).map(item).collect::<Done<'p, Vec<_>>>()?,
                ))
            }
            ("Enumerable" | "Array", _) if !arguments.is_empty() => {
                let rest = arguments.get(1..).unwrap_or_default().to_vec();
                self.method(&first, name, types, rest)
            }
            ("JsonSerializer", "Serialize") => {
                let json = first.to_json(false, 0);
                let indents = arguments
                    .get(1)
                    .is_some_and(|o| matches!(entry(o, "WriteIndented"), V::Bool(true)));
                let compact = json_text(&json, true);
                Ok(V::text(if indents {
                    serde_json::to_string_pretty(&json).unwrap_or(compact)
                } else {
                    compact
                }))
            }
            ("JsonSerializer", "Deserialize") | ("JsonNode", "Parse") => {
                let Ok(json) = serde_json::from_str::<Value>(&text(0)) else {
                    return thrown("JsonException", "The input is not valid JSON.");
                };
                let kind = if class == "JsonNode"
                    || types.first().is_some_and(|t| t.name.starts_with("Json"))
                {
                    MapKind::Node
                } else {
                    MapKind::Dictionary
                };
                self.made(V::from_json(&json, kind))
            }
            ("Uri", "EscapeDataString" | "EscapeUriString") => Ok(V::text(escaped(&text(0)))),
            ("UTF8", "GetBytes") => Ok(V::array(
                text(0).bytes().map(|b| V::Int(i32::from(b))).collect(),
            )),
            ("UTF8", "GetString") => Ok(V::text(
                String::from_utf8_lossy(&bytes_of(&first)).into_owned(),
            )),
            ("Object", "Equals" | "ReferenceEquals") => Ok(V::Bool(operators::equal(
                &first,
                arguments.get(1).unwrap_or(&V::Null),
            ))),
            ("Console", _) => Ok(V::Null),
            _ => thrown(
                "CompilationErrorException",
                format!("'{class}.{name}' is not run here"),
            ),
        }
    }

    fn string_call<'p>(&mut self, name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
        let first = arguments.first().cloned().unwrap_or(V::Null);
        let text = first.shown();
        match name {
            "IsNullOrEmpty" => Ok(V::Bool(text.is_empty())),
            "IsNullOrWhiteSpace" => Ok(V::Bool(text.trim().is_empty())),
            "Join" => {
                let items = match arguments {
                    [_, only @ (V::List(_) | V::Map(_))] => self.items(only)?,
                    [_, rest @ ..] => rest.to_vec(),
                    [] => Vec::new(),
                };
                let items: Vec<_> = items.iter().map(V::shown).collect();
                self.made(V::text(items.join(&text)))
            }
            "Concat" => {
                let items = match arguments {
                    [only @ V::List(_)] => self.items(only)?,
                    items => items.to_vec(),
                };
                self.made(V::text(items.iter().map(V::shown).collect::<String>()))
            }
            "Format" => {
                let mut made = String::new();
                for part in crate::dotnet::format_parts(&text) {
                    match part {
                        crate::dotnet::Part::Text(part) => made.push_str(part),
                        crate::dotnet::Part::Item {
                            index,
                            format,
                            width,
                        } => {
                            let shown = arguments
                                .get(index + 1)
                                .map(|v| formatted(v, format))
                                .unwrap_or_default();
                            let padding = usize::try_from(width.unsigned_abs())
                                .unwrap_or(0)
                                .min(10_000);
                            let padding = " ".repeat(padding.saturating_sub(shown.chars().count()));
                            made.push_str(&if width < 0 {
                                shown + &padding
                            } else {
                                padding + &shown
                            });
                        }
                    }
                }
                self.made(V::text(made))
            }
            "Equals" | "Compare" | "CompareOrdinal" => {
                let second = arguments.get(1).cloned().unwrap_or(V::Null);
                let ignores = arguments
                    .iter()
                    .any(|a| matches!(a, V::Enum(n) if n.ends_with("IgnoreCase")));
                let fold = |v: &V<'p>| {
                    if ignores {
                        V::text(v.shown().to_lowercase())
                    } else {
                        v.clone()
                    }
                };
                let (a, b) = (fold(&first), fold(&second));
                if name == "Equals" {
                    return Ok(V::Bool(operators::equal(&a, &b)));
                }
                self.method(&a, "CompareTo", &[], vec![b])
            }
            _ => thrown(
                "CompilationErrorException",
                format!("'string.{name}' is not run here"),
            ),
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "saturates")]
fn whole(value: &V<'_>) -> i64 {
    operators::as_double(value).unwrap_or(0.0) as i64
}

fn bytes_of(value: &V<'_>) -> Vec<u8> {
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

fn escaped(text: &str) -> String {
    let mut made = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                made.push(char::from(byte))
            }
            _ => made.push_str(&format!("%{byte:02X}")),
        }
    }
    made
}

fn math<'p>(name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
    let first = arguments.first().cloned().unwrap_or(V::Null);
    let second = arguments.get(1).cloned().unwrap_or(V::Null);
    if let (V::Decimal(number), "Round" | "Floor" | "Ceiling" | "Truncate") = (&first, name) {
        let digits = if let V::Int(digits) = second {
            u32::try_from(digits).unwrap_or(0)
        } else {
            0
        };
        let away = arguments
            .iter()
            .any(|a| matches!(a, V::Enum(mode) if mode == "AwayFromZero"));
        let truncated = number.truncated();
        let up_or_down = match (name, number.compare(truncated)) {
            ("Floor", std::cmp::Ordering::Less) => Some(-1),
            ("Ceiling", std::cmp::Ordering::Greater) => Some(1),
            _ => None,
        };
        return Ok(V::Decimal(match name {
            "Round" => number.rounded(digits, away),
            _ => up_or_down
                .and_then(|by| truncated.add(Decimal::whole(by)))
                .unwrap_or(truncated),
        }));
    }
    let Some(x) = operators::as_double(&first) else {
        return thrown(
            "CompilationErrorException",
            format!("Math.{name} needs a number"),
        );
    };
    let y = operators::as_double(&second).unwrap_or(0.0);
    Ok(match name {
        "Min" | "Max" => {
            let first_less = operators::compare(&first, &second).is_le();
            let chosen = if (name == "Min") == first_less {
                &first
            } else {
                &second
            };
            let unified = operators::unified(vec![chosen.clone(), first.clone(), second.clone()]);
            unified.into_iter().next().unwrap_or(V::Null)
        }
        "Abs" if x < 0.0 => return operators::unary("-", first),
        "Abs" => first,
        "Sign" => V::Int(if x > 0.0 {
            1
        } else if x < 0.0 {
            -1
        } else {
            0
        }),
        "Round" => {
            let digits = if let V::Int(digits) = second {
                digits.clamp(0, 15)
            } else {
                0
            };
            let factor = 10_f64.powi(digits);
            let away = arguments
                .iter()
                .any(|a| matches!(a, V::Enum(mode) if mode == "AwayFromZero"));
            let scaled = x * factor;
            V::Double(
                if away {
                    scaled.round()
                } else {
                    scaled.round_ties_even()
                } / factor,
            )
        }
        "Floor" => V::Double(x.floor()),
        "Ceiling" => V::Double(x.ceil()),
        "Truncate" => V::Double(x.trunc()),
        "Sqrt" => V::Double(x.sqrt()),
        "Pow" => V::Double(x.powf(y)),
        "Log" => V::Double(if arguments.len() > 1 {
            x.log(y)
        } else {
            x.ln()
        }),
        "Log10" => V::Double(x.log10()),
        "Exp" => V::Double(x.exp()),
        "Sin" => V::Double(x.sin()),
        "Cos" => V::Double(x.cos()),
        "Clamp" => {
            let third = arguments.get(2).cloned().unwrap_or(V::Null);
            if operators::compare(&first, &second).is_lt() {
                second
            } else if operators::compare(&first, &third).is_gt() {
                third
            } else {
                first
            }
        }
        _ => {
            return thrown(
                "CompilationErrorException",
                format!("'Math.{name}' is not run here"),
            );
        }
    })
}

fn conversion<'p>(name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
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
