//! Reading one instance without working on it.

use bytes::Bytes;

use crate::instance::Instances;
use crate::instance::head::{self as instance, HeadItem, InstanceHead, Stored, head_key};
use crate::item::error::StoreError;
use crate::item::tenant::Tenant;
use crate::stimulus::bookmark::RowPlace;

/// How often a head is read anew because its state moved on meanwhile.
const ATTEMPTS_MAX: u32 = 5;

impl Instances<'_> {
    /// The bookmarks of one instance that wait for a stimulus, as its head tells. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn waits_for(
        self,
        tenant: &Tenant,
        hash: &str,
        instance_id: &str,
    ) -> Result<Vec<String>, StoreError> {
        let Some(stored) = self.stored(tenant, instance_id).await? else {
            return Ok(Vec::new());
        };
        let is_it = |place: &RowPlace| place.hash == hash;
        let open = stored.head.bookmarks.into_iter();
        Ok(open
            .filter(|(_, open)| open.place.as_ref().is_some_and(is_it))
            .map(|(id, _)| id)
            .collect())
    }

    /// What the head says of an instance. One read. `None`: there is none, or it was deleted.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn get(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<InstanceHead>, StoreError> {
        Ok(self
            .stored(tenant, instance_id)
            .await?
            .map(|stored| stored.head))
    }

    /// The head and the state of an instance as of the same commit. One read; one more where the state is too
    /// large for the head.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn instance_with_state(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<(InstanceHead, Bytes)>, StoreError> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(stored) = self.stored(tenant, instance_id).await? else {
                return Ok(None);
            };
            // A commit between the two reads has replaced the state that the head named.
            if let Some(state) = self.load_state(tenant, instance_id, &stored.place).await? {
                return Ok(Some((stored.head, state)));
            }
        }
        Err(StoreError::damaged("state"))
    }

    /// All of a head. One read.
    pub(crate) async fn stored(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<Stored>, StoreError> {
        let Some(item) = self.table().get(&head_key(tenant, instance_id)?).await? else {
            return Ok(None);
        };
        Ok(match instance::from_item(&item)? {
            HeadItem::Instance(stored) => Some(*stored),
            HeadItem::Tombstone | HeadItem::Placeholder { .. } => None,
        })
    }
}
