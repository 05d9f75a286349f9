//! Items and keys as DynamoDB's attribute maps, and back. Numbers are whole, an empty set is no attribute.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use dormouse_store::table::limits::KEY_NAMES;
use dormouse_store::table::{Attributes, Item, Key, TableError, Value};

/// The attribute that is the partition.
pub(super) const PARTITION: &str = KEY_NAMES[0];
/// The attribute that orders a partition.
pub(super) const SORT: &str = KEY_NAMES[1];

/// An item as DynamoDB has it.
pub(super) type AttributeMap = HashMap<String, AttributeValue>;

/// One value for DynamoDB.
pub(super) fn attribute(value: &Value) -> AttributeValue {
    match value {
        Value::S(text) => AttributeValue::S(text.clone()),
        Value::N(number) => AttributeValue::N(number.to_string()),
        Value::B(bytes) => AttributeValue::B(Blob::new(bytes.to_vec())),
        Value::Ss(texts) => AttributeValue::Ss(texts.iter().cloned().collect()),
    }
}

/// A key for DynamoDB.
pub(super) fn key_map(key: &Key) -> AttributeMap {
    HashMap::from([
        (
            PARTITION.to_owned(),
            AttributeValue::S(key.partition.clone()),
        ),
        (SORT.to_owned(), AttributeValue::S(key.sort.clone())),
    ])
}

/// A whole item for DynamoDB.
pub(super) fn item_map(item: &Item) -> AttributeMap {
    let mut map = key_map(&item.key);
    map.extend(
        item.attributes
            .iter()
            .filter(|(_, value)| !value.is_empty_set())
            .map(|(name, value)| (name.clone(), attribute(value))),
    );
    map
}

/// The item that DynamoDB holds or projects.
///
/// # Errors
///
/// [`TableError::Unusable`] if it is not one of ours: the table holds something that Dormouse did not write.
pub(super) fn item_from(mut map: AttributeMap) -> Result<Item, TableError> {
    let key = Key {
        partition: text(&mut map, PARTITION)?,
        sort: text(&mut map, SORT)?,
    };
    let attributes = map
        .into_iter()
        .map(|(name, value)| value_from(&name, value).map(|value| (name, value)))
        .collect::<Result<Attributes, TableError>>()?;
    Ok(Item { key, attributes })
}

/// Takes a text out of a map.
pub(super) fn text(map: &mut AttributeMap, name: &str) -> Result<String, TableError> {
    match map.remove(name) {
        Some(AttributeValue::S(text)) => Ok(text),
        Some(_) | None => Err(foreign(name)),
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "the SDK's enum is open")]
fn value_from(name: &str, value: AttributeValue) -> Result<Value, TableError> {
    match value {
        AttributeValue::S(text) => Ok(Value::S(text)),
        AttributeValue::N(number) => number.parse().map(Value::N).map_err(|_| foreign(name)),
        AttributeValue::B(bytes) => Ok(Value::B(Bytes::from(bytes.into_inner()))),
        AttributeValue::Ss(texts) => Ok(Value::Ss(texts.into_iter().collect())),
        _ => Err(foreign(name)),
    }
}

fn foreign(name: &str) -> TableError {
    TableError::Unusable(
        format!("an item's attribute `{name}` is missing or not of a kind that Dormouse writes"),
        None,
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn item() -> Item {
        let values = [
            ("s1", Value::S(String::new())),
            ("n", Value::N(i64::MIN)),
            ("b", Value::B(Bytes::from_static(&[0, 255]))),
            (
                "ss",
                Value::Ss(BTreeSet::from(["x".to_owned(), "y".to_owned()])),
            ),
        ];
        Item {
            key: Key::new("part", "sort"),
            attributes: values
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        }
    }

    #[test]
    fn an_item_comes_back_as_it_was() {
        assert_eq!(item_from(item_map(&item())).unwrap(), item());
    }

    #[test]
    fn an_empty_set_is_not_stored() {
        let mut with = item();
        with.attributes
            .insert("none".to_owned(), Value::Ss(BTreeSet::new()));
        assert_eq!(item_from(item_map(&with)).unwrap(), item());
    }

    #[test]
    fn an_item_of_somebody_else_is_reported_with_the_attributes_name() {
        let mut map = item_map(&item());
        map.insert("odd".to_owned(), AttributeValue::Bool(true));
        assert!(item_from(map).unwrap_err().to_string().contains("`odd`"));
        let mut map = item_map(&item());
        map.insert("n".to_owned(), AttributeValue::N("1.5".to_owned()));
        assert!(item_from(map).unwrap_err().to_string().contains("`n`"));
    }
}
