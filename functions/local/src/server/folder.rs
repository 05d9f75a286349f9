//! Opening the data folder, and what is told when it cannot be used.

use std::path::Path;

use dormouse_embedded::{EmbeddedTable, Options};
use dormouse_runtime::TableError;

use crate::exit::Exit;
use crate::failure::Failure;

/// Opens the table of a data folder; both are created where they are missing.
pub(super) fn open(folder: &Path, size_bytes_max: Option<u64>) -> Result<EmbeddedTable, Failure> {
    EmbeddedTable::open_with(folder, Options { size_bytes_max }).map_err(|error| {
        let (exit, code) = match &error {
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
    })
}
