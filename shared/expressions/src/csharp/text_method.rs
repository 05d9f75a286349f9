//! Methods of texts.

use super::members::count;
use super::run::{Done, thrown};
use super::value::V;

/// A text or a character as text.
pub(super) fn plain(value: Option<&V<'_>>) -> String {
    value.map(V::shown).unwrap_or_default()
}

fn separators(arguments: &[V<'_>]) -> Vec<String> {
    match arguments.first() {
        Some(V::List(list)) => list.items.borrow().iter().map(V::shown).collect(),
        Some(V::Null) | None => vec![" ".into()],
        Some(_) => arguments
            .iter()
            .filter(|a| matches!(a, V::Text(_) | V::Char(_)))
            .map(V::shown)
            .collect(),
    }
}

fn ignores_case(arguments: &[V<'_>]) -> bool {
    arguments
        .iter()
        .any(|a| matches!(a, V::Enum(name) if name.ends_with("IgnoreCase")))
}

pub(super) fn text_method<'p>(
    text: &str,
    name: &str,
    arguments: &[V<'p>],
) -> Done<'p, Option<V<'p>>> {
    let first = plain(arguments.first());
    let number = |at: usize| match arguments.get(at) {
        Some(V::Int(number)) => usize::try_from(*number).ok(),
        _ => None,
    };
    let characters = || text.chars().collect::<Vec<_>>();
    let fold = |text: &str| {
        if ignores_case(arguments) {
            text.to_lowercase()
        } else {
            text.to_owned()
        }
    };
    let made = |text: String| Ok(Some(V::text(text)));
    let place = |found: Option<usize>| {
        let place = found
            .and_then(|at| text.get(..at))
            .map(|before| before.encode_utf16().count());
        Ok(Some(place.map_or(V::Int(-1), count)))
    };
    match name {
        "ToUpper" | "ToUpperInvariant" => made(text.to_uppercase()),
        "ToLower" | "ToLowerInvariant" => made(text.to_lowercase()),
        "Trim" | "TrimStart" | "TrimEnd" => {
            let set: Vec<char> = arguments
                .iter()
                .flat_map(|a| a.shown().chars().collect::<Vec<_>>())
                .collect();
            let goes = |c: char| {
                if set.is_empty() {
                    c.is_whitespace()
                } else {
                    set.contains(&c)
                }
            };
            let text = if name == "TrimEnd" {
                text
            } else {
                text.trim_start_matches(goes)
            };
            made(
                if name == "TrimStart" {
                    text
                } else {
                    text.trim_end_matches(goes)
                }
                .to_owned(),
            )
        }
        "Contains" => Ok(Some(V::Bool(fold(text).contains(&fold(&first))))),
        "StartsWith" => Ok(Some(V::Bool(fold(text).starts_with(&fold(&first))))),
        "EndsWith" => Ok(Some(V::Bool(fold(text).ends_with(&fold(&first))))),
        "Equals" => Ok(Some(V::Bool(fold(text) == fold(&first)))),
        "IndexOf" => place(fold(text).find(&fold(&first))),
        "LastIndexOf" => place(fold(text).rfind(&fold(&first))),
        "Replace" => made(text.replace(&first, &plain(arguments.get(1)))),
        "Substring" | "Remove" | "Insert" => {
            let characters = characters();
            let start = number(0).filter(|start| *start <= characters.len());
            let length = if name == "Insert" {
                Some(0)
            } else {
                arguments
                    .get(1)
                    .map_or(start.map(|s| characters.len() - s), |_| number(1))
            };
            let end = start
                .zip(length)
                .map(|(start, length)| start + length)
                .filter(|end| *end <= characters.len());
            let Some((start, end)) = start.zip(end) else {
                return thrown(
                    "ArgumentOutOfRangeException",
                    "Index and length must refer to a location within the string.",
                );
            };
            let part = |from: usize, to: usize| {
                characters
                    .get(from..to)
                    .unwrap_or_default()
                    .iter()
                    .collect::<String>()
            };
            made(match name {
                "Substring" => part(start, end),
                "Remove" => part(0, start) + &part(end, characters.len()),
                _ => part(0, start) + &plain(arguments.get(1)) + &part(start, characters.len()),
            })
        }
        "PadLeft" | "PadRight" => {
            let missing = number(0)
                .unwrap_or(0)
                .min(1 << 20)
                .saturating_sub(characters().len());
            let with = if arguments.len() > 1 {
                plain(arguments.get(1))
            } else {
                " ".into()
            };
            let padding = with.repeat(missing);
            made(if name == "PadLeft" {
                padding + text
            } else {
                text.to_owned() + &padding
            })
        }
        "Split" => {
            let separators = separators(arguments);
            let drops = arguments
                .iter()
                .any(|a| matches!(a, V::Enum(name) if name.contains("RemoveEmptyEntries")));
            let trims = arguments
                .iter()
                .any(|a| matches!(a, V::Enum(name) if name.contains("TrimEntries")));
            let mut parts = vec![text.to_owned()];
            for separator in separators.iter().filter(|s| !s.is_empty()) {
                parts = parts
                    .iter()
                    .flat_map(|part| {
                        part.split(separator.as_str())
                            .map(str::to_owned)
                            .collect::<Vec<_>>()
                    })
                    .collect();
            }
            let parts = parts
                .into_iter()
                .map(|part| if trims { part.trim().to_owned() } else { part });
            Ok(Some(V::array(
                parts
                    .filter(|part| !drops || !part.is_empty())
                    .map(V::text)
                    .collect(),
            )))
        }
        "ToCharArray" => Ok(Some(V::array(text.chars().map(V::Char).collect()))),
        "Normalize" | "AsSpan" => made(text.to_owned()),
        _ => Ok(None),
    }
}
