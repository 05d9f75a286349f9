//! Reading everything in a table, for operators who look for what has gone wrong. Nothing that serves uses it: it
//! costs as much as there is.

use async_trait::async_trait;

use crate::table::{Item, Key, Page, TableError};

/// One page of all items, and of those that do not read back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The items, in no order.
    pub items: Vec<Item>,
    /// The keys of the damaged ones, as far as they can be read.
    pub damaged: Vec<Key>,
    /// Where the next page begins; `None` at the end. Opaque text.
    pub cursor: Option<String>,
}

/// A table that can be read from end to end.
#[async_trait]
pub trait Scan: Send + Sync + 'static {
    /// One page of all items, in no order. What changes meanwhile is seen before, after, or not at all.
    ///
    /// # Errors
    ///
    /// [`TableError`], as of a query; also if an item is damaged.
    async fn scan(&self, cursor: Option<String>) -> Result<Page, TableError>;

    /// The same for those who go on beside a damaged item. They must not take it for one that is not there.
    ///
    /// # Errors
    ///
    /// [`TableError`], as of a query.
    async fn scan_readable(&self, cursor: Option<String>) -> Result<Scanned, TableError> {
        let Page { items, cursor } = self.scan(cursor).await?;
        Ok(Scanned {
            items,
            damaged: Vec::new(),
            cursor,
        })
    }
}
