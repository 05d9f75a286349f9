//! Where a page of a query ended, as text: the sort key of its last item, and for an index that item's own key
//! too, because index keys need not be unique. It names no partition: that is the query's, so a cursor from
//! elsewhere can only move within what its user may read anyway.

use serde::{Deserialize, Serialize};

use crate::table::{Index, Item, Key, TableError};

/// The place of a page's last item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// The sort key in the table, or in the index.
    pub sort: String,
    /// The item's own key, for an index.
    pub key: Option<Key>,
}

/// `[sort]`, or `[sort, partition, own sort]` for an index.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Text {
    Table([String; 1]),
    Index([String; 3]),
}

impl Cursor {
    /// The cursor that continues after the item. `None` if the item is not in the index.
    #[must_use]
    pub fn after(item: &Item, index: Option<Index>) -> Option<Self> {
        match index {
            None => Some(Self {
                sort: item.key.sort.clone(),
                key: None,
            }),
            Some(index) => item.index_key(index).map(|[_, sort]| Self {
                sort: sort.to_owned(),
                key: Some(item.key.clone()),
            }),
        }
    }

    /// Reads what [`Cursor::encode`] wrote for a query of the same index.
    ///
    /// # Errors
    ///
    /// [`TableError::BadCursor`] for any other text.
    pub fn decode(text: &str, index: Option<Index>) -> Result<Self, TableError> {
        match (serde_json::from_str(text), index) {
            (Ok(Text::Table([sort])), None) => Ok(Self { sort, key: None }),
            (Ok(Text::Index([sort, partition, own])), Some(_)) => Ok(Self {
                sort,
                key: Some(Key::new(partition, own)),
            }),
            (Ok(Text::Table(_) | Text::Index(_)) | Err(_), _) => Err(TableError::BadCursor),
        }
    }

    /// As text.
    #[must_use]
    pub fn encode(self) -> String {
        let parts = match self.key {
            None => vec![self.sort],
            Some(key) => vec![self.sort, key.partition, key.sort],
        };
        serde_json::Value::from(parts).to_string()
    }
}
