//! Deleting an instance: a tombstone first, which refuses every later write, then what lies about.

use crate::error::StoreError;
use crate::outbox::{Effect, OutboxKey};
use crate::store::Store;
use crate::tenant::Tenant;

/// What became of a delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deleted {
    /// It is deleted. The rows of the outbox that were written with it.
    Done(Vec<OutboxKey>),
    /// It was deleted before.
    Already,
    /// There was none.
    NotFound,
}

impl Store {
    /// Deletes an instance, whoever works on it: the tombstone has the next fence. `effects` should have one that
    /// calls [`Self::clean_deleted`] until it is done. One read and one atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_instance(
        &self,
        tenant: &Tenant,
        instance_id: &str,
        now_ms: i64,
        effects: &[Effect],
    ) -> Result<Deleted, StoreError> {
        let _ = (tenant, instance_id, now_ms, effects);
        todo!()
    }

    /// Deletes one batch of what a deleted instance left: bookmarks, claims, states, journal. True: that was all.
    /// Doing it again is fine.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn clean_deleted(
        &self,
        tenant: &Tenant,
        instance_id: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let _ = (tenant, instance_id, now_ms);
        todo!()
    }
}
