//! Reading JSON objects as Elsa does: property names in any case, null the same as absent.

use serde_json::{Map, Value};

/// A view of a JSON object whose names are matched in any case, an exact match first.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(Option<&'a Map<String, Value>>);

impl<'a> Fields<'a> {
    /// A view of the value; of nothing if it is not an object.
    #[must_use]
    pub fn of(value: &'a Value) -> Self {
        Self(value.as_object())
    }

    /// A view of the object.
    #[must_use]
    pub fn of_map(map: &'a Map<String, Value>) -> Self {
        Self(Some(map))
    }

    /// The property, unless it is absent or null.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        let map = self.0?;
        map.get(name)
            .or_else(|| {
                map.iter()
                    .find(|(k, _)| k.eq_ignore_ascii_case(name))
                    .map(|(_, v)| v)
            })
            .filter(|v| !v.is_null())
    }

    /// Whether the object has the property, even as null.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.0
            .is_some_and(|map| map.keys().any(|key| key.eq_ignore_ascii_case(name)))
    }

    /// The property as text; numbers are taken as their digits.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            Value::String(s) => Some(s.clone()),
            Value::Number(n) => Some(n.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The property as a truth value; `"true"` counts.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Value::Bool(b) => Some(*b),
            Value::String(s) => s.trim().to_ascii_lowercase().parse().ok(),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The property as a whole number; text that holds one counts.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Value::Number(n) => n.as_i64(),
            Value::String(s) => s.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The property as an object.
    #[must_use]
    pub fn object(&self, name: &str) -> Fields<'a> {
        Fields(self.get(name).and_then(Value::as_object))
    }

    /// The property as a list: an array, `{"$values": […]}`, `{"items": […]}`, or a single object.
    #[must_use]
    pub fn list(&self, name: &str) -> Vec<&'a Value> {
        match self.get(name) {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().collect(),
            Some(single) => {
                let fields = Fields::of(single);
                match fields.get("$values").or_else(|| fields.get("items")) {
                    Some(Value::Array(items)) => items.iter().collect(),
                    Some(_) | None => vec![single],
                }
            }
        }
    }

    /// Whether there is an object at all.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.0.is_some()
    }

    /// All properties, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.0.into_iter().flat_map(Map::iter)
    }
}
