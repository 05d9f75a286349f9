//! Reading everything in a table, for operators who look for what has gone wrong. Nothing that serves uses it: it
//! costs as much as there is.

use async_trait::async_trait;

use crate::table::{Page, TableError};

/// A table that can be read from end to end.
#[async_trait]
pub trait Scan: Send + Sync + 'static {
    /// One page of all items, in no order. What changes meanwhile is seen before, after, or not at all.
    ///
    /// # Errors
    ///
    /// [`TableError`], as of a query.
    async fn scan(&self, cursor: Option<String>) -> Result<Page, TableError>;
}
