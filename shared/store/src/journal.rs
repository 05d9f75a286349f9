//! The journal: what has happened in an instance, line by line. Recent lines ride in the head; when they grow they
//! move to items of their own, named by the number after their last line, so that any line is one query away.

use bytes::Bytes;

use crate::error::StoreError;
use crate::instance::wf_partition;
use crate::key_text::count;
use crate::store::Store;
use crate::table::Key;
use crate::tenant::Tenant;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLine {
    /// Its number, from 0, without gaps.
    pub number: u64,
    /// The commit that wrote it.
    pub commit: u64,
    /// When that was, in ms since 1970.
    pub at_ms: i64,
    /// What it says; the runtime's own format.
    pub body: Bytes,
}

/// Some lines of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalPage {
    /// The lines, in order.
    pub lines: Vec<JournalLine>,
    /// How many lines the journal has.
    pub total: u64,
    /// The number of the line after these, where there are more.
    pub next: Option<u64>,
}

/// The key of an item of lines.
pub(crate) fn key(
    tenant: &Tenant,
    instance: &str,
    end: u64,
    commit: u64,
) -> Result<Key, StoreError> {
    Ok(Key::new(
        wf_partition(tenant, instance)?,
        format!("J#{}#{}", count(end), count(commit)),
    ))
}

impl Store {
    /// The lines of an instance's journal from a number on, at most `limit`; `None`: there is no such instance.
    /// One read where the head has them, else a query more for each MiB.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn journal(
        &self,
        tenant: &Tenant,
        instance_id: &str,
        from: u64,
        limit: usize,
    ) -> Result<Option<JournalPage>, StoreError> {
        let _ = (tenant, instance_id, from, limit, key);
        todo!()
    }
}
