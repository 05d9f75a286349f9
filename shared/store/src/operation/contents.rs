//! What a table holds, as far as it tells whether a copy of it is whole.

use std::collections::BTreeSet;

use crate::instance::head::{self, HeadItem};
use crate::instance::state::StatePlace;
use crate::item::error::StoreError;
use crate::table::Item;
use crate::table::scan::Scan;

/// What a table holds.
#[derive(Debug, Default)]
pub struct Contents {
    /// How many items.
    pub items: u64,
    /// The names of the large states that its instances have among the blobs.
    pub states: BTreeSet<String>,
}

impl Contents {
    /// Reads all of a table. An item that cannot be read names nothing: `doctor` tells of it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the table cannot be read.
    pub async fn of(table: &dyn Scan) -> Result<Self, StoreError> {
        let mut contents = Self::default();
        let mut cursor = None;
        loop {
            let page = table.scan(cursor).await?;
            contents.items += u64::try_from(page.items.len()).unwrap_or(u64::MAX);
            contents.states.extend(page.items.iter().filter_map(state));
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(contents);
            }
        }
    }
}

/// The large state that an item names.
fn state(item: &Item) -> Option<String> {
    if item.key.sort != "HEAD" || !item.key.partition.contains("/WF#") {
        return None;
    }
    match head::from_item(item) {
        Ok(HeadItem::Instance(stored)) => match stored.place {
            StatePlace::Blob(name) => Some(name),
            StatePlace::Inline(_) | StatePlace::Item(..) => None,
        },
        Ok(HeadItem::Tombstone | HeadItem::Placeholder { .. }) | Err(_) => None,
    }
}
