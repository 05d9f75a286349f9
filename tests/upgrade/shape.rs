//! The shape of stored items: which attributes a kind of item has, and which fields its bodies, without what they hold.
//! Two builds whose worlds have the same shape store in the same format.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_store::table::{Item, Value};
use serde_json::Value as Json;

/// By kind of item, what its attributes and fields are.
pub(crate) fn shape(items: &[Item]) -> BTreeMap<String, BTreeSet<String>> {
    let mut shape: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in items {
        let fields = shape.entry(kind(item)).or_default();
        for (name, value) in &item.attributes {
            match value {
                Value::S(_) => fields.insert(format!("{name}: text")),
                Value::N(_) => fields.insert(format!("{name}: number")),
                Value::Ss(_) => fields.insert(format!("{name}: texts")),
                Value::B(bytes) => {
                    body(fields, name, bytes);
                    continue;
                }
            };
        }
    }
    shape
}

/// What a key is about: its words without ids and numbers.
pub(crate) fn kind(item: &Item) -> String {
    let (_, partition) = item.key.partition.split_once('/').unwrap();
    let word = |text: &str| text.split('#').next().unwrap_or_default().to_owned();
    let sort = word(&item.key.sort);
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase());
    let sort = if is_word(&sort) { sort } else { "…".into() };
    format!("{} {sort}", word(partition))
}

/// A body: a format number, then MessagePack, perhaps behind a second number; or JSON; or something of its own.
fn body(fields: &mut BTreeSet<String>, name: &str, bytes: &[u8]) {
    for skip in [1, 2] {
        let (Some(format), Some(rest)) = (bytes.get(..skip), bytes.get(skip..)) else {
            continue;
        };
        if let Ok(json) = rmp_serde::from_slice::<Json>(rest)
            && json.is_object()
        {
            walk(fields, &format!("{name}[{format:?}]"), &json);
            return;
        }
    }
    if let Ok(json) = serde_json::from_slice::<Json>(bytes) {
        walk(fields, &format!("{name}[json]"), &json);
        return;
    }
    fields.insert(format!("{name}: bytes of format {:?}", bytes.first()));
}

/// Names of fields. Those that are ids or values of the workflow's own are not told apart.
fn walk(fields: &mut BTreeSet<String>, path: &str, json: &Json) {
    match json {
        Json::Object(all) => {
            for (name, value) in all {
                let is_own = name.len() > 24 || name.bytes().any(|b| b.is_ascii_digit());
                let name = if is_own { "*" } else { name };
                walk(fields, &format!("{path}.{name}"), value);
            }
        }
        Json::Array(all) => all
            .iter()
            .for_each(|one| walk(fields, &format!("{path}[]"), one)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
            fields.insert(path.to_owned());
        }
    }
}
