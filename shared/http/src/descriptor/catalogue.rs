//! Elsa's own activity types, as Elsa describes them: `elsa.json`, one type a line. What is as usual is left out of
//! the file: an input is wrapped, evaluated and shown, a type is shown and ends nothing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

/// The types by name, whole. The file is part of the program, and a test reads it.
static TYPES: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let types: Vec<Value> = serde_json::from_str(include_str!("elsa.json")).unwrap_or_default();
    let whole = types.into_iter().map(whole);
    let named = whole.filter_map(|t| Some((t.get("typeName")?.as_str()?.to_owned(), t)));
    named.collect()
});

/// All of them.
pub(super) fn all() -> impl Iterator<Item = (&'static String, &'static Value)> {
    TYPES.iter()
}

/// One by its name.
pub(super) fn find(type_name: &str) -> Option<&'static Value> {
    TYPES.get(type_name)
}

fn whole(mut one: Value) -> Value {
    let usual = json!({
        "clrType": null,
        "description": null,
        "runAsynchronously": false,
        "customProperties": {},
        "constructionProperties": {},
        "isContainer": false,
        "isBrowsable": true,
        "isStart": false,
        "isTerminal": false,
    });
    complete(&mut one, &usual);
    let usual = json!({
        "description": null,
        "category": null,
        "order": 0,
        "uiSpecifications": {},
        "defaultValue": null,
        "defaultSyntax": null,
        "isWrapped": true,
        "isReadOnly": false,
        "isSensitive": false,
        "isBrowsable": true,
        "isSerializable": true,
        "isSynthetic": false,
        "autoEvaluate": true,
        "storageDriverType": null,
    });
    each(&mut one, "inputs", &usual);
    let usual = json!({
        "description": null,
        "order": 0,
        "isBrowsable": true,
        "isSerializable": true,
        "isSynthetic": false,
    });
    each(&mut one, "outputs", &usual);
    one
}

fn each(one: &mut Value, list: &str, usual: &Value) {
    let list = one.get_mut(list).and_then(Value::as_array_mut);
    for member in list.into_iter().flatten() {
        complete(member, usual);
    }
}

fn complete(one: &mut Value, usual: &Value) {
    if let (Value::Object(one), Value::Object(usual)) = (one, usual) {
        for (name, value) in usual {
            if !one.contains_key(name) {
                one.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_elsa_is_described() {
        assert_eq!(all().count(), 57);
        let delay = find("Elsa.Delay").unwrap();
        assert_eq!(delay["displayName"], "Delay");
        assert_eq!(delay["inputs"][0]["defaultValue"], "00:01:00");
        assert_eq!(delay["inputs"][0]["isWrapped"], true);
        assert_eq!(delay["isContainer"], false);
    }
}
