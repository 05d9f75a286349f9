//! Opening the data folder, and what is told when it cannot be used.

use std::path::Path;
use std::sync::Arc;

use dormouse_embedded::{EmbeddedTable, FileBlobs, Options, TableScheduler};
use dormouse_runtime::TableError;
use dormouse_runtime::port::Clock;
use dormouse_store::Store;
use dormouse_store::item::config::StoreConfig;

use super::storage::Storage;
use crate::exit::Exit;
use crate::failure::Failure;

/// Duration of a lease on one machine, in ms. A restart ends all of them.
const LEASE_MS: i64 = 5_000;

/// Opens the table of a data folder; both are created where they are missing.
fn table(folder: &Path, size_bytes_max: Option<u64>) -> Result<EmbeddedTable, Failure> {
    EmbeddedTable::open_with(folder, Options { size_bytes_max }).map_err(|e| table_failed(&e))
}

/// The failure of a command whose table cannot be opened or read.
pub(crate) fn table_failed(error: &TableError) -> Failure {
    let (exit, code) = match error {
        TableError::InUse(_) => (Exit::Conflict, "folderInUse"),
        TableError::Full(_) => (Exit::Storage, "diskFull"),
        TableError::Busy
        | TableError::Unknown(_)
        | TableError::TooLarge { .. }
        | TableError::BadCursor
        | TableError::Invalid(_)
        | TableError::Unusable(..) => (Exit::Storage, "folderUnusable"),
    };
    Failure::new(exit, code, error.to_string())
}

/// Opens a data folder for this process alone.
pub(super) fn open(
    folder: &Path,
    size_bytes_max: Option<u64>,
    clock: &dyn Clock,
) -> Result<Storage, Failure> {
    let table = Arc::new(table(folder, size_bytes_max)?);
    let blobs = Arc::new(FileBlobs::new(folder));
    let store = Store::new(Arc::clone(&table) as _, StoreConfig::embedded())
        .with_blobs(Arc::clone(&blobs) as _)
        // The folder's lock proves that its previous holder is gone.
        .with_epoch(&format!("{:016x}", clock.random()));
    Ok(Storage {
        scheduler: TableScheduler::new(store.clone()),
        store,
        scan: Arc::clone(&table) as _,
        blobs: Some(blobs),
        lease_ms: LEASE_MS,
        embedded: Some(table),
        remote: None,
    })
}
