//! Constructors.

use super::date::{Date, TICKS_A_MS};
use super::operators;
use super::run::{Done, Run, thrown};
use super::statics::parsed;
use super::syntax::Type;
use super::value::{MapKind, V};

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
}
