//! Constructors.

use super::date::{Date, Part, TICKS_A_MS};
use super::operators;
use super::run::{Done, Run, thrown};
use super::statics::{self, parsed};
use super::syntax::Type;
use super::value::{ListKind, MapKind, V};

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
            "List" | "HashSet" | "SortedSet" | "Stack" | "Queue" | "LinkedList" => {
                let mut items = if matches!(first, V::List(_) | V::Map(_) | V::Text(_)) {
                    self.items(&first)?
                } else {
                    Vec::new()
                };
                match of.name.as_str() {
                    "HashSet" | "SortedSet" => return self.set_of(items, of.name == "SortedSet"),
                    "Queue" => V::items_of(ListKind::Queue, items),
                    // What was pushed last comes first.
                    "Stack" => {
                        items.reverse();
                        V::items_of(ListKind::Stack, items)
                    }
                    _ => V::list(items),
                }
            }
            "StringBuilder" => V::Builder(std::rc::Rc::new(std::cell::RefCell::new(
                if matches!(first, V::Text(_)) {
                    text(0)
                } else {
                    String::new()
                },
            ))),
            "Regex" => {
                let regex = super::regex::Regex::new(&text(0), arguments.get(1))?;
                V::Regex(std::rc::Rc::new(regex))
            }
            "Version" => V::text(if arguments.len() > 1 {
                arguments.iter().map(V::shown).collect::<Vec<_>>().join(".")
            } else {
                text(0)
            }),
            "Tuple" | "ValueTuple" => V::Tuple(std::rc::Rc::new(
                arguments.into_iter().map(|a| (None, a)).collect(),
            )),
            "Lazy" => V::anonymous(vec![("Value", self.call(&first, &[])?)]),
            "Dictionary" | "SortedDictionary" | "SortedList" => {
                let entries = match &first {
                    V::Map(map) => map.entries.borrow().clone(),
                    V::List(_) => self
                        .items(&first)?
                        .iter()
                        .map(|pair| (statics::entry(pair, "Key"), statics::entry(pair, "Value")))
                        .collect(),
                    _ => Vec::new(),
                };
                V::map(MapKind::Dictionary, entries)
            }
            "ExpandoObject" => V::map(MapKind::Expando, Vec::new()),
            "JsonObject" => V::map(MapKind::Node, Vec::new()),
            "JsonArray" => V::list(arguments),
            "JsonSerializerOptions" => V::map(MapKind::Anonymous, Vec::new()),
            "KeyValuePair" => V::anonymous(vec![
                ("Key", first),
                ("Value", arguments.get(1).cloned().unwrap_or(V::Null)),
            ]),
            "DateTime" | "DateTimeOffset" => {
                let is_utc = arguments
                    .iter()
                    .any(|a| matches!(a, V::Enum(kind) if &*kind.name == "Utc"));
                let date = if numbers.is_empty() {
                    Some(Date {
                        ticks: 0,
                        is_utc: false,
                        offset: None,
                        part: super::date::Part::Whole,
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
            "Random" => match &first {
                V::Int(seed) => V::Seeded(std::rc::Rc::new(std::cell::RefCell::new(
                    super::element::Seeded::new(*seed),
                ))),
                _ => V::Random,
            },
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
                let is_relative =
                    matches!(arguments.get(1), Some(V::Enum(kind)) if kind.number != 1);
                match (&first, arguments.get(1)) {
                    (V::Uri(base), Some(path @ (V::Text(_) | V::Uri(_)))) => {
                        let base = super::address::uri_text(base);
                        let folder = base
                            .rsplit_once('/')
                            .map_or(base.as_str(), |(folder, _)| folder);
                        let root = folder.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
                        let path = path.shown();
                        match path.strip_prefix('/') {
                            Some(path) => V::Uri(format!("{root}/{path}").into()),
                            None => V::Uri(format!("{folder}/{path}").into()),
                        }
                    }
                    _ if text(0).contains("://") || is_relative => V::Uri(text(0).into()),
                    _ => {
                        let message = "Invalid URI: The format of the URI could not be determined.";
                        return thrown("UriFormatException", message);
                    }
                }
            }
            "DateOnly" | "TimeOnly" => {
                let parts: Vec<i64> = if of.name == "TimeOnly" {
                    [2000, 1, 1].iter().chain(&numbers).copied().collect()
                } else {
                    numbers
                };
                match Date::of(&parts) {
                    Some(date) => V::Date(Date {
                        part: if of.name == "TimeOnly" {
                            Part::Clock
                        } else {
                            Part::Day
                        },
                        ..date
                    }),
                    None => {
                        return thrown(
                            "ArgumentOutOfRangeException",
                            "The parts describe no date.",
                        );
                    }
                }
            }
            name if name.ends_with("Exception") => V::anonymous(vec![
                ("Message", V::text(text(0))),
                ("Type", V::text(name)),
                ("InnerException", V::Null),
            ]),
            "" | "object" | "Object" => V::map(MapKind::Anonymous, Vec::new()),
            name => {
                return thrown(
                    "CompilationErrorException",
                    format!("`new {name}` is not run here"),
                );
            }
        })
    }
}
