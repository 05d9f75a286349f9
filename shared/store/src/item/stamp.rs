//! The stamp of a commit: everything that is written or sent before a commit carries the stamp of the commit that
//! would make it valid. How a stamp is judged is said in [`crate::instance::stamp`].

use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;
use crate::table::{Item, Value};

/// Which execution of which commit of an instance prepared something.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Stamp {
    /// Number of the commit, from 1.
    #[serde(rename = "n")]
    pub commit: u64,
    /// Fence that the head must have when the commit happens.
    #[serde(rename = "f")]
    pub fence: u64,
    /// Identifier of the execution. No two executions of any commit share it.
    #[serde(rename = "a")]
    pub attempt: u64,
    /// When it was prepared, in ms since 1970.
    #[serde(rename = "t")]
    pub at_ms: i64,
}

/// The stamp as attributes of a prepared row.
pub(crate) fn attributes(stamp: &Stamp) -> Result<(String, Value), StoreError> {
    Ok(("sp".to_owned(), Value::B(body::encode("stamp", stamp)?)))
}

/// The stamp of a prepared row.
pub(crate) fn of_item(what: &'static str, item: &Item) -> Result<Stamp, StoreError> {
    let bytes = body::bytes(&item.attributes, "sp").ok_or(StoreError::damaged(what))?;
    body::decode(what, bytes)
}
