//! The `Store`: a table, its configuration, and the operations on them. Each operation is in the file of its noun.

mod batches;
pub(crate) mod handle;
mod versioned;
mod write_again;

use std::sync::Arc;

use crate::item::config::StoreConfig;
use crate::item::epoch::Epoch;
use crate::item::error::StoreError;
use crate::item::error::refused_without_reason;
use crate::table::blobs::Blobs;
use crate::table::{Table, Write, Written};

/// The items of Dormouse in a table. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    table: Arc<dyn Table>,
    blobs: Option<Arc<dyn Blobs>>,
    config: Arc<StoreConfig>,
    epoch: Epoch,
}

impl Store {
    /// A store over a table. States over the size of an item are refused until it has blobs.
    #[must_use]
    pub fn new(table: Arc<dyn Table>, config: StoreConfig) -> Self {
        Self {
            table,
            blobs: None,
            config: Arc::new(config),
            epoch: Epoch::default(),
        }
    }

    /// The same store with a place for large states.
    #[must_use]
    pub fn with_blobs(mut self, blobs: Arc<dyn Blobs>) -> Self {
        self.blobs = Some(blobs);
        self
    }

    /// The same store in an epoch: this process has the table for itself, so that whatever another epoch holds is
    /// free. `name`: another one at each opening of the table.
    #[must_use]
    pub fn with_epoch(mut self, name: &str) -> Self {
        self.epoch = Epoch::new(name);
        self
    }

    /// Whether it is in an epoch: then nobody else is at work, and whoever was before is gone.
    #[must_use]
    pub fn has_epoch(&self) -> bool {
        self.epoch.name().is_some()
    }

    pub(crate) fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    /// The table underneath.
    #[must_use]
    pub fn table(&self) -> &dyn Table {
        &*self.table
    }

    /// Its sizes and numbers.
    #[must_use]
    pub fn config(&self) -> &StoreConfig {
        &self.config
    }

    pub(crate) fn blobs(&self) -> Option<&dyn Blobs> {
        self.blobs.as_deref()
    }

    /// Does writes that have no condition that could be refused.
    pub(crate) async fn write_plain(&self, writes: &[Write]) -> Result<(), StoreError> {
        match self.table.write(writes).await? {
            Written::Done => Ok(()),
            Written::Refused(_) => Err(refused_without_reason()),
        }
    }
}
