//! Small items that are read, changed and written back: each has a version number, and a write counts only if it is
//! the one that was read.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::item::body;
use crate::item::error::StoreError;
use crate::table::{Condition, Item, Key, Value, Write};

/// A value and the version it has in the table; 0: it is not there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// What is kept.
    pub value: T,
    /// The number of the write that kept it.
    pub version: i64,
}

impl<T> Versioned<T> {
    /// One that is to be stored for the first time.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { value, version: 0 }
    }
}

impl<T: Serialize + DeserializeOwned> Versioned<T> {
    pub(crate) fn from_item(what: &'static str, item: &Item) -> Result<Self, StoreError> {
        Ok(Self {
            value: body::of_item(what, item)?,
            version: body::number(&item.attributes, "ve").ok_or(StoreError::damaged(what))?,
        })
    }

    /// The write that stores it, if nobody else has since it was read.
    pub(crate) fn put(
        &self,
        what: &'static str,
        key: Key,
        ttl_s: Option<i64>,
    ) -> Result<Write, StoreError> {
        let mut attributes = body::attributes(what, &self.value)?;
        attributes.insert("ve".into(), Value::N(self.version + 1));
        if let Some(ttl_s) = ttl_s {
            attributes.insert("ttl".into(), Value::N(ttl_s));
        }
        Ok(Write::Put(Item { key, attributes }, self.as_read()))
    }

    /// The write that deletes it, if nobody has changed it since it was read.
    pub(crate) fn delete(&self, key: Key) -> Write {
        Write::Delete(key, self.as_read())
    }

    fn as_read(&self) -> Condition {
        match self.version {
            0 => Condition::Absent,
            version => Condition::Equals("ve".into(), Value::N(version)),
        }
    }
}
