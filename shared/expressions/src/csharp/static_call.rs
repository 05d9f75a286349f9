//! Static methods.

use serde_json::Value;

use super::conversion::{bytes_of, conversion, whole};
use super::date::Date;
use super::math::math;
use super::methods::span_of_ms;
use super::operators;
use super::run::{Done, Run, thrown};
use super::statics::{entry, formatted, parsed};
use super::syntax::Type;
use super::value::{MapKind, V};
use crate::dotnet::json_text;

impl Run<'_> {
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
