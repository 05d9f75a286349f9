//! Methods of texts.

use super::members::count;
use super::run::{Done, thrown};
use super::value::V;

/// A text or a character as text.
pub(super) fn plain(value: Option<&V<'_>>) -> String {
    value.map(V::shown).unwrap_or_default()
}

/// What a text is split by; nothing stands for blanks.
fn separators(arguments: &[V<'_>]) -> Vec<String> {
    match arguments.first() {
        Some(V::List(list)) => list.items.borrow().iter().map(V::shown).collect(),
        _ => arguments
            .iter()
            .filter(|a| matches!(a, V::Text(_) | V::Char(_)))
            .map(V::shown)
            .collect(),
    }
}

fn ignores_case(arguments: &[V<'_>]) -> bool {
    arguments.iter().any(|a| match a {
        V::Enum(member) => member.name.ends_with("IgnoreCase"),
        V::Bool(flag) => *flag,
        _ => false,
    })
}

/// Cuts at the first of the separators that is met, at most so often.
fn split(text: &str, separators: &[String], most: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while parts.len() + 1 < most {
        let first = if separators.iter().all(String::is_empty) {
            rest.char_indices()
                .find(|(_, c)| c.is_whitespace())
                .map(|(at, c)| (at, c.len_utf8()))
        } else {
            let known = separators.iter().filter(|s| !s.is_empty());
            known
                .filter_map(|s| rest.find(s.as_str()).map(|at| (at, s.len())))
                .min_by_key(|(at, _)| *at)
        };
        let Some((at, length)) = first else {
            break;
        };
        parts.push(rest.get(..at).unwrap_or_default().to_owned());
        rest = rest.get(at + length..).unwrap_or_default();
    }
    parts.push(rest.to_owned());
    parts
}

/// Replaces all places of a text, whatever their case.
fn replaced(text: &str, old: &str, new: &str) -> String {
    let (lower, old) = (text.to_lowercase(), old.to_lowercase());
    if lower.len() != text.len() {
        return text.replace(&old, new);
    }
    let mut made = String::new();
    let mut end = 0;
    for (at, found) in lower.match_indices(&old) {
        made.push_str(text.get(end..at).unwrap_or_default());
        made.push_str(new);
        end = at + found.len();
    }
    made + text.get(end..).unwrap_or_default()
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
        "Contains" | "StartsWith" | "EndsWith" | "IndexOf" | "LastIndexOf" | "Replace"
            if matches!(arguments.first(), Some(V::Null)) =>
        {
            thrown("ArgumentNullException", "Value cannot be null.")
        }
        "Contains" => Ok(Some(V::Bool(fold(text).contains(&fold(&first))))),
        "StartsWith" => Ok(Some(V::Bool(fold(text).starts_with(&fold(&first))))),
        "EndsWith" => Ok(Some(V::Bool(fold(text).ends_with(&fold(&first))))),
        "Equals" => Ok(Some(V::Bool(
            matches!(arguments.first(), Some(V::Text(_))) && fold(text) == fold(&first),
        ))),
        "IndexOf" => {
            let start = number(1).map_or(Some(0), |from| {
                text.char_indices()
                    .map(|(at, _)| at)
                    .chain([text.len()])
                    .nth(from)
            });
            let Some(start) = start else {
                return thrown("ArgumentOutOfRangeException", "Index was out of range.");
            };
            let rest = text.get(start..).unwrap_or_default();
            place(fold(rest).find(&fold(&first)).map(|at| at + start))
        }
        "LastIndexOf" => place(fold(text).rfind(&fold(&first))),
        "IndexOfAny" | "LastIndexOfAny" => {
            let set = separators(arguments).concat();
            place(if name == "IndexOfAny" {
                text.find(|c| set.contains(c))
            } else {
                text.rfind(|c| set.contains(c))
            })
        }
        "Replace" if first.is_empty() => {
            thrown("ArgumentException", "The value cannot be an empty string.")
        }
        "Replace" if ignores_case(arguments) => {
            made(replaced(text, &first, &plain(arguments.get(1))))
        }
        "Replace" => made(text.replace(&first, &plain(arguments.get(1)))),
        "ReplaceLineEndings" => made(text.replace("\r\n", "\n")),
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
            let option = |wanted: &str| {
                let mut members = arguments.iter();
                members.any(|a| matches!(a, V::Enum(m) if m.name.contains(wanted)))
            };
            let (drops, trims) = (option("RemoveEmptyEntries"), option("TrimEntries"));
            let most = number(1).unwrap_or(usize::MAX);
            let parts = split(text, &separators, most);
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
        "Normalize" | "AsSpan" | "Clone" => made(text.to_owned()),
        _ => Ok(None),
    }
}
