//! Reading one instance without working on it.

use bytes::Bytes;

use crate::error::StoreError;
use crate::instance::InstanceHead;
use crate::store::Store;
use crate::tenant::Tenant;

impl Store {
    /// What the head says of an instance. One read. `None`: there is none, or it was deleted.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn instance(
        &self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<InstanceHead>, StoreError> {
        let _ = (tenant, instance_id);
        todo!()
    }

    /// The head and the state of an instance as of the same commit. One read; one more where the state is too
    /// large for the head.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn instance_with_state(
        &self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<(InstanceHead, Bytes)>, StoreError> {
        let _ = (tenant, instance_id);
        todo!()
    }
}
