//! Compares a file with what the server has of it.

use serde_json::Value;

/// Members that the server writes for each version.
const VOLATILE: [&str; 10] = [
    "id",
    "version",
    "isLatest",
    "isPublished",
    "isSystem",
    "createdAt",
    "createdBy",
    "links",
    "$schema",
    "toolVersion",
];

/// True if a published definition is that of a file. Members that only the server has must have their defaults.
pub(super) fn is_same(file: &Value, there: &Value) -> bool {
    let (Some(file), Some(there)) = (file.as_object(), there.as_object()) else {
        return false;
    };
    let is_volatile = |name: &str| VOLATILE.iter().any(|v| v.eq_ignore_ascii_case(name));
    let names = file.keys().chain(there.keys());
    names
        .filter(|name| !is_volatile(name))
        .all(|name| same(name, file.get(name), there.get(name)))
}

fn same(name: &str, file: Option<&Value>, there: Option<&Value>) -> bool {
    match (file, there) {
        (None, None) => true,
        (Some(one), None) | (None, Some(one)) => is_default(one),
        (Some(Value::Object(file)), Some(Value::Object(there))) => {
            let mut names = file.keys().chain(there.keys());
            names.all(|name| same(name, file.get(name), there.get(name)))
        }
        (Some(Value::Array(file)), Some(Value::Array(there))) => {
            let mut pairs = file.iter().zip(there);
            file.len() == there.len() && pairs.all(|(f, t)| same("", Some(f), Some(t)))
        }
        (Some(Value::String(file)), Some(Value::String(there)))
            if name == "storageDriverTypeName" =>
        {
            short(file) == short(there)
        }
        (Some(file), Some(there)) => file == there || is_default(file) && is_default(there),
    }
}

/// The value of a member that is not set.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.values().all(is_default),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// A .NET type's name without its namespace and assembly: the server writes storage drivers so.
fn short(name: &str) -> &str {
    let name = name.split(',').next().unwrap_or(name).trim();
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_server_adds_is_no_difference_and_any_change_is_one() {
        let file = json!({ "definitionId": "a", "id": null, "outcomes": [], "root": { "id": "r", "text": null },
            "variables": [{ "name": "V", "storageDriverTypeName": "Elsa.Workflows.WorkflowInstanceStorageDriver, Elsa" }] });
        let there = |root: Value, name: &str| {
            json!({ "definitionId": "a", "id": "f00", "version": 3, "isPublished": true, "options": { "x": null }, "root": root,
                "name": name, "variables": [{ "name": "V", "storageDriverTypeName": "WorkflowInstanceStorageDriver" }] })
        };
        assert!(is_same(&file, &there(json!({ "id": "r" }), "")));
        assert!(!is_same(
            &file,
            &there(json!({ "id": "r", "text": "x" }), "")
        ));
        assert!(!is_same(&file, &there(json!({ "id": "s" }), "")));
        assert!(!is_same(&file, &there(json!({ "id": "r" }), "A name")));
    }
}
