//! Digests of JSON that survive whoever writes it anew.

use std::collections::BTreeMap;

use dormouse_identity::secret::sha256_hex;
use serde_json::Value;

/// SHA-256 of a JSON value, the same in whatever order its names are.
#[must_use]
pub fn json_digest(value: &Value) -> String {
    sha256_hex(in_order(value).to_string().as_bytes())
}

fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            let pairs = sorted.into_iter();
            Value::Object(
                pairs
                    .map(|(name, value)| (name.clone(), in_order(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.iter().map(in_order).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
