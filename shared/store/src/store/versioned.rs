//! Reads and conditional writes of small items.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::item::error::StoreError;
use crate::item::versioned::Versioned;
use crate::store::Store;
use crate::table::{Key, Write, Written};

impl Store {
    pub(crate) async fn get_versioned<T: Serialize + DeserializeOwned>(
        &self,
        what: &'static str,
        key: &Key,
    ) -> Result<Option<Versioned<T>>, StoreError> {
        let item = self.table().get(key).await?;
        item.map(|item| Versioned::from_item(what, &item))
            .transpose()
    }

    /// Whether the writes happened. False: somebody else was first.
    pub(crate) async fn write_if(&self, writes: &[Write]) -> Result<bool, StoreError> {
        Ok(self.table().write(writes).await? == Written::Done)
    }
}
