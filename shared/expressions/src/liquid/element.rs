//! Members of JSON that .NET has not read further (`JsonElement`), as the default values of variables have them. Fluid
//! prints their JSON and knows nothing else of them: no members, no items, no numbers.

use std::borrow::Cow;

use serde_json::Value;

use crate::dotnet::json_text;

/// The member by which an element is told from an object. No variable has it.
const ELEMENT: &str = "\u{0}element";

/// An object whose members are elements, or a list whose objects are.
pub(super) fn with_elements(value: Value) -> Value {
    let element = |value: Value| {
        if value.is_null() {
            return value;
        }
        Value::Object([(ELEMENT.to_owned(), value)].into_iter().collect())
    };
    match value {
        Value::Object(entries) => {
            let entries = entries.into_iter();
            entries
                .map(|(name, value)| (name, element(value)))
                .collect()
        }
        Value::Array(items) => {
            let items = items.into_iter();
            let is_plain = |item: &Value| !item.is_object() && !item.is_array();
            items
                .map(|item| if is_plain(&item) { item } else { element(item) })
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// What an element is of.
pub(super) fn element(value: &Value) -> Option<&Value> {
    value.as_object()?.get(ELEMENT)
}

/// What is printed of an element.
pub(super) fn text(inner: &Value) -> Cow<'_, str> {
    match inner {
        Value::Null => Cow::Borrowed(""),
        Value::Bool(true) => Cow::Borrowed("True"),
        Value::Bool(false) => Cow::Borrowed("False"),
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Cow::Owned(json_text(inner, false))
        }
    }
}

/// A value with its elements read.
pub(super) fn plain(value: &Value) -> Cow<'_, Value> {
    if let Some(inner) = element(value) {
        return Cow::Borrowed(inner);
    }
    match value {
        Value::Object(entries) => {
            let entries = entries.iter();
            let read = |(name, value): (&String, &Value)| (name.clone(), plain(value).into_owned());
            Cow::Owned(Value::Object(entries.map(read).collect()))
        }
        Value::Array(items) => {
            let items = items.iter();
            Cow::Owned(items.map(|item| plain(item).into_owned()).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Cow::Borrowed(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::value::{is_truthy, member, to_text};
    use super::*;

    #[test]
    fn members_of_unread_json_are_texts_and_nothing_else() {
        let whole =
            with_elements(json!({ "tags": ["x"], "flag": false, "name": "Ada", "none": null }));
        let get = |name: &str| member(&whole, &json!(name)).into_owned();
        assert_eq!(to_text(&get("tags")), "[\"x\"]");
        assert_eq!(to_text(&get("name")), "Ada");
        assert_eq!(to_text(&get("flag")), "False");
        assert!(is_truthy(&get("flag")));
        assert_eq!(*member(&get("tags"), &json!(0)), Value::Null);
        assert_eq!(get("none"), Value::Null);
        assert_eq!(plain(&whole)["tags"], json!(["x"]));
    }
}
