//! Bookmarks that are found by what they wait for: rows under the hash of their stimulus, in order of correlation id and
//! instance, so that a stimulus reads no more rows than it has recipients. Timers and links carry the instance's id
//! themselves and have no row.
//!
//! A row is put before its commit and proves nothing alone: the head's open bookmarks do.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::definition::trigger::{stimulus_hash, stimulus_partition};
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{part, plain};
use crate::item::stamp::{self, Stamp};
use crate::item::tenant::Tenant;
use crate::table::{Item, Key};

/// Where the row of a bookmark lies.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowPlace {
    /// Hash of the stimulus that the bookmark waits for.
    #[serde(rename = "h")]
    pub hash: String,
    /// Correlation id of the instance when the bookmark opened.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

/// A bookmark that a commit opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBookmark {
    /// Its id, unique within the instance.
    pub id: String,
    /// What it is found by; `None`: by its id only.
    pub found_by: Option<FoundBy>,
}

/// What a row of a bookmark holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FoundBy {
    /// The hash of the stimulus that it waits for.
    #[serde(skip)]
    pub hash: String,
    /// The instance's correlation id, for filters.
    #[serde(rename = "c")]
    pub correlation_id: Option<String>,
    /// The activity's instance that waits, for filters.
    #[serde(rename = "a")]
    pub activity_instance_id: Option<String>,
    /// Anything else that a sender wants to know; the runtime's own format.
    #[serde(rename = "p")]
    pub payload: Bytes,
}

/// A bookmark as it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookmarkRow {
    /// The instance that waits.
    pub instance_id: String,
    /// The bookmark's id.
    pub bookmark_id: String,
    /// The commit that opens it.
    pub stamp: Stamp,
    /// What it waits for.
    pub found_by: FoundBy,
}

/// What the sort keys of bookmarks begin with: all of a hash, or those with a correlation id.
pub(crate) fn prefix(correlation_id: Option<&str>) -> Result<String, StoreError> {
    Ok(match correlation_id {
        None => "B#".to_owned(),
        Some(id) => format!("B#{}#", part("a correlation id", id)?),
    })
}

/// The key of a bookmark's row. No other attempt writes it.
pub(crate) fn key(
    tenant: &Tenant,
    place: &RowPlace,
    instance: &str,
    bookmark: &str,
    attempt: u64,
) -> Result<Key, StoreError> {
    let correlation = match place.correlation_id.as_deref() {
        None | Some("") => String::new(),
        Some(id) => part("a correlation id", id)?,
    };
    let instance = part("an instance id", instance)?;
    let bookmark = part("a bookmark id", bookmark)?;
    Ok(Key::new(
        stimulus_partition(tenant, &place.hash)?,
        format!("B#{correlation}#{instance}#{bookmark}#{attempt:x}"),
    ))
}

/// The row of a bookmark.
pub(crate) fn item(
    tenant: &Tenant,
    instance: &str,
    added: (&str, &FoundBy),
    stamp: &Stamp,
) -> Result<Item, StoreError> {
    let (bookmark, found_by) = added;
    let mut attributes = body::attributes("bookmark", found_by)?;
    let (name, value) = stamp::attributes(stamp)?;
    attributes.insert(name, value);
    Ok(Item {
        key: key(tenant, &found_by.place(), instance, bookmark, stamp.attempt)?,
        attributes,
    })
}

impl FoundBy {
    /// Where the row lies.
    pub(crate) fn place(&self) -> RowPlace {
        RowPlace {
            hash: self.hash.clone(),
            correlation_id: self.correlation_id.clone().filter(|id| !id.is_empty()),
        }
    }
}

pub(crate) fn from_item(item: &Item) -> Result<BookmarkRow, StoreError> {
    let what = "bookmark";
    let mut parts = item.key.sort.split('#').skip(2);
    let mut text = || {
        parts
            .next()
            .and_then(plain)
            .ok_or(StoreError::damaged(what))
    };
    let (instance_id, bookmark_id) = (text()?, text()?);
    let mut found_by: FoundBy = body::of_item(what, item)?;
    found_by.hash = stimulus_hash(what, &item.key.partition)?;
    Ok(BookmarkRow {
        instance_id,
        bookmark_id,
        stamp: stamp::of_item(what, item)?,
        found_by,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bookmark_comes_back() {
        let tenant = Tenant::default();
        let found_by = FoundBy {
            hash: "AB#".into(),
            correlation_id: Some("c#1".into()),
            activity_instance_id: None,
            payload: Bytes::from_static(b"p"),
        };
        let stamp = Stamp {
            commit: 3,
            fence: 1,
            attempt: 0xab,
            at_ms: 7,
        };
        let item = item(&tenant, "i#1", ("b", &found_by), &stamp).unwrap();
        assert_eq!(
            item.key,
            Key::new("default/STIM#AB%23", "B#c%231#i%231#b#ab")
        );
        assert!(item.key.sort.starts_with(&prefix(Some("c#1")).unwrap()));
        let row = from_item(&item).unwrap();
        assert_eq!((row.stamp, &row.found_by), (stamp, &found_by));
        assert_eq!(
            (row.instance_id.as_str(), row.bookmark_id.as_str()),
            ("i#1", "b")
        );
    }
}
