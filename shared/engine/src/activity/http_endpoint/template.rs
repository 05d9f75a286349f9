//! Path templates as in ASP.NET's routing: `orders/{id}`, `{id?}`, `{id=1}`, `{*rest}`, `v{version}`,
//! `{name}.{ext}`. Constraints after a colon are read and not enforced, as in Elsa.

use std::cmp::Reverse;

use serde_json::{Map, Value};

use super::normal_path;

/// One part of a template between slashes.
#[derive(Debug, PartialEq, Eq)]
enum Segment<'a> {
    Literal(&'a str),
    Parameter(&'a str),
    Optional(&'a str, Option<&'a str>),
    Rest(&'a str),
    /// Text and parameters in one, such as `{name}.{ext}`.
    Mixed(Vec<Piece<'a>>),
}

/// A piece of a mixed part.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Value(&'a str),
}

/// The pieces of a part that is text and parameters. `None`: it is not, or it is not closed.
fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{') {
        let (inner, after) = tail.split_once('}')?;
        if !before.is_empty() {
            found.push(Piece::Text(before));
        }
        let name = inner.split([':', '?', '=']).next().unwrap_or(inner);
        found.push(Piece::Value(name));
        rest = after;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest));
    }
    (found.len() > 1).then_some(found)
}

/// Reads a mixed part from its end, so that the first parameter takes as much as it can.
fn read_pieces(pieces: &[Piece<'_>], part: &str, data: &mut Map<String, Value>) -> Option<()> {
    let mut rest = part;
    let mut waiting: Option<&str> = None;
    for piece in pieces.iter().rev() {
        match piece {
            Piece::Text(text) => {
                let lower = rest.to_lowercase();
                let wanted = text.to_lowercase();
                let at = match waiting {
                    Some(_) => lower.rfind(&wanted)?,
                    None => lower
                        .ends_with(&wanted)
                        .then(|| lower.len() - wanted.len())?,
                };
                let after = rest.get(at + wanted.len()..)?;
                if let Some(name) = waiting.take() {
                    if after.is_empty() {
                        return None;
                    }
                    data.insert(name.to_owned(), after.into());
                }
                rest = rest.get(..at)?;
            }
            Piece::Value(name) => waiting = Some(name),
        }
    }
    match waiting {
        Some(_) if rest.is_empty() => None,
        Some(name) => {
            data.insert(name.to_owned(), rest.into());
            Some(())
        }
        None => rest.is_empty().then_some(()),
    }
}

fn segment(text: &str) -> Segment<'_> {
    if let Some(pieces) = pieces(text) {
        return Segment::Mixed(pieces);
    }
    let Some(inner) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) else {
        return Segment::Literal(text);
    };
    if let Some(rest) = inner.strip_prefix("**").or_else(|| inner.strip_prefix('*')) {
        return Segment::Rest(rest.split(':').next().unwrap_or(rest));
    }
    let bare = |name: &'_ str| name.split(':').next().unwrap_or(name).len();
    if let Some((name, default)) = inner.split_once('=') {
        let name = name.get(..bare(name)).unwrap_or(name);
        return Segment::Optional(name, Some(default));
    }
    match inner.strip_suffix('?') {
        Some(name) => Segment::Optional(name.get(..bare(name)).unwrap_or(name), None),
        None => Segment::Parameter(inner.get(..bare(inner)).unwrap_or(inner)),
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

/// The templates that a path matches, each with the values of its parameters; the most literal one first, and
/// catch-alls last.
#[must_use]
pub fn matches<'a>(
    path: &str,
    templates: impl Iterator<Item = &'a str>,
) -> Vec<(String, Map<String, Value>)> {
    let mut found: Vec<_> = templates
        .filter_map(|template| read(path, template).map(|data| (rank(template), template, data)))
        .collect();
    found.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let found = found.into_iter();
    found
        .map(|(_, template, data)| (normal_path(template), data))
        .collect()
}

/// Sorts templates by how literal they are, segment by segment from the left.
fn rank(template: &str) -> Vec<Reverse<u8>> {
    segments(template)
        .map(|text| {
            Reverse(match segment(text) {
                Segment::Literal(_) => 4,
                Segment::Mixed(_) => 3,
                Segment::Parameter(_) => 2,
                Segment::Optional(..) => 1,
                Segment::Rest(_) => 0,
            })
        })
        .collect()
}

/// The values of a template's parameters in a path, if it matches.
fn read(path: &str, template: &str) -> Option<Map<String, Value>> {
    let mut data = Map::new();
    let mut parts = segments(path);
    for text in segments(template) {
        match segment(text) {
            Segment::Literal(literal) => {
                let part = parts.next()?;
                if part.to_lowercase() != literal.to_lowercase() {
                    return None;
                }
            }
            Segment::Parameter(name) => {
                data.insert(name.to_owned(), parts.next()?.into());
            }
            Segment::Mixed(pieces) => read_pieces(&pieces, parts.next()?, &mut data)?,
            Segment::Optional(name, default) => {
                if let Some(value) = parts.next().or(default) {
                    data.insert(name.to_owned(), value.into());
                }
            }
            Segment::Rest(name) => {
                let rest = parts.by_ref().collect::<Vec<_>>().join("/");
                let rest = Some(rest).filter(|rest| !rest.is_empty());
                data.insert(name.to_owned(), rest.into());
            }
        }
    }
    parts.next().is_none().then_some(data)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn data(path: &str, template: &str) -> Option<Value> {
        read(path, template).map(Value::Object)
    }

    #[test]
    fn templates_match_as_in_asp_net() {
        assert_eq!(
            data("/Orders/A B", "orders/{id}"),
            Some(json!({ "id": "A B" }))
        );
        assert_eq!(data("/orders", "orders/{id}"), None);
        assert_eq!(data("/orders/1/2", "orders/{id}"), None);
        assert_eq!(data("/orders", "orders/{id?}"), Some(json!({})));
        assert_eq!(data("/orders", "orders/{id=7}"), Some(json!({ "id": "7" })));
        assert_eq!(
            data("/orders/x", "orders/{id:int}"),
            Some(json!({ "id": "x" }))
        );
        assert_eq!(
            data("/files/a/b", "files/{*rest}"),
            Some(json!({ "rest": "a/b" }))
        );
        assert_eq!(data("/users/all", "users/{id}/x"), None);
        assert_eq!(
            data("/files", "files/{*rest}"),
            Some(json!({ "rest": null }))
        );
        assert_eq!(data("/V2/x", "v{n}/x"), Some(json!({ "n": "2" })));
        assert_eq!(data("/v/x", "v{n}/x"), None);
        assert_eq!(
            data("/a.b.pdf", "{name}.{ext}"),
            Some(json!({ "name": "a.b", "ext": "pdf" }))
        );
        assert_eq!(data("/a", "{name}.{ext}"), None);
    }

    #[test]
    fn the_most_literal_template_comes_first() {
        let templates = ["/{*rest}", "/users/{id}", "/{a}/all", "/users/{id?}"];
        let found = matches("/users/all", templates.into_iter());
        let order: Vec<&str> = found.iter().map(|(t, _)| t.as_str()).collect();
        assert_eq!(
            order,
            ["/users/{id}", "/users/{id?}", "/{a}/all", "/{*rest}"]
        );
    }
}
