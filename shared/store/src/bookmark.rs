//! Bookmarks that are found by what they wait for: rows under the hash of their stimulus. Timers and links carry
//! the instance's id themselves and have no row; that they are open is known by the head's set of open bookmarks.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::body;
use crate::error::StoreError;
use crate::key_text::{part, plain};
use crate::table::{Attributes, Item, Key};
use crate::tenant::Tenant;
use crate::trigger::{stimulus_hash, stimulus_partition};

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
    /// The commit that opens it. Until the head has this number the bookmark is not open yet.
    pub commit: u64,
    /// What it waits for.
    pub found_by: FoundBy,
}

/// The key of a bookmark's row.
pub(crate) fn key(
    tenant: &Tenant,
    hash: &str,
    instance: &str,
    bookmark: &str,
) -> Result<Key, StoreError> {
    let instance = part("an instance id", instance)?;
    let bookmark = part("a bookmark id", bookmark)?;
    Ok(Key::new(
        stimulus_partition(tenant, hash)?,
        format!("B#{instance}#{bookmark}"),
    ))
}

pub(crate) fn attributes(found_by: &FoundBy, commit: u64) -> Result<Attributes, StoreError> {
    let mut attributes = body::attributes("bookmark", found_by)?;
    attributes.insert("cn".into(), crate::instance::number(commit));
    Ok(attributes)
}

pub(crate) fn from_item(item: &Item) -> Result<BookmarkRow, StoreError> {
    let what = "bookmark";
    let mut parts = item.key.sort.split('#').skip(1);
    let mut text = || {
        parts
            .next()
            .and_then(plain)
            .ok_or(StoreError::damaged(what))
    };
    let (instance_id, bookmark_id) = (text()?, text()?);
    let commit = body::number(&item.attributes, "cn").ok_or(StoreError::damaged(what))?;
    let mut found_by: FoundBy = body::of_item(what, item)?;
    found_by.hash = stimulus_hash(what, &item.key.partition)?;
    Ok(BookmarkRow {
        instance_id,
        bookmark_id,
        commit: commit.unsigned_abs(),
        found_by,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bookmark_comes_back() {
        let found_by = FoundBy {
            hash: "AB#".into(),
            correlation_id: Some("order 7".into()),
            activity_instance_id: None,
            payload: Bytes::from_static(b"{}"),
        };
        let key = key(&Tenant::default(), "AB#", "i#1", "b").unwrap();
        assert_eq!(key, Key::new("default/STIM#AB%23", "B#i%231#b"));
        let row = from_item(&Item {
            key,
            attributes: attributes(&found_by, 4).unwrap(),
        })
        .unwrap();
        let (instance_id, bookmark_id) = ("i#1".to_owned(), "b".to_owned());
        assert_eq!(
            row,
            BookmarkRow {
                instance_id,
                bookmark_id,
                commit: 4,
                found_by
            }
        );
    }
}
