//! Shapes as JSON schemas.

use serde_json::{Map, Value, json};

/// What a table says of a route.
pub(in crate::openapi) fn find(table: &[(&str, &'static str)], key: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(of, _)| *of == key)
        .map(|(_, shape)| *shape)
}

/// The names of a shape with their kinds, and whether they must be there.
pub(in crate::openapi) fn fields(
    shape: &'static str,
) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    shape.split(' ').filter_map(|field| {
        let (name, kind) = field.split_once(':')?;
        let bare = name.trim_end_matches('!');
        Some((bare, kind, bare != name))
    })
}

/// A shape as a JSON schema. More may be there.
pub(in crate::openapi) fn object(shape: &'static str) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, kind, is_required) in fields(shape) {
        let schema = match is_required {
            true => of_kind(kind),
            false => json!({ "anyOf": [of_kind(kind), { "type": "null" }] }),
        };
        properties.insert(name.into(), schema);
        if is_required {
            required.push(name);
        }
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The schema of one kind.
pub(in crate::openapi) fn of_kind(kind: &str) -> Value {
    match kind {
        "string" => json!({ "type": "string" }),
        "strings" => json!({ "type": "array", "items": { "type": "string" } }),
        "flag" => json!({ "type": "boolean" }),
        "object" => json!({ "type": "object" }),
        "objects" => json!({ "type": "array", "items": { "type": "object" } }),
        "definition" => object("definitionId:string name:string root!:object"),
        // Numbers of things that are asked for are small; numbers of things that there are need not be.
        "few" => json!({ "type": "integer", "minimum": 0, "maximum": 1_000 }),
        "count" => json!({ "type": "integer", "minimum": 0 }),
        _ => json!({}),
    }
}
