//! The data folder: created when missing, held by one process at a time.
//!
//! It contains the table's file with SQLite's two companions (`-wal`, `-shm`), and a lock file whose lock the
//! operating system gives back however the process ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use dormouse_store::table::TableError;

/// A data folder that is ours until this is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Creates the folder if it is missing, and takes it.
    pub(super) fn lock(path: &Path) -> Result<Self, TableError> {
        std::fs::create_dir_all(path).map_err(|error| unusable(path, "cannot create", error))?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("lock"))
            .map_err(|error| unusable(path, "cannot write in", error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(TableError::Unusable(
                format!(
                    "the data folder {} is in use by another process: stop that one, or choose another folder",
                    path.display()
                ),
                None,
            )),
            Err(TryLockError::Error(error)) => Err(unusable(path, "cannot lock", error)),
        }
    }

    /// The table's file.
    pub(super) fn file(&self) -> PathBuf {
        self.path.join("dormouse.sqlite")
    }

    /// Makes the names of the files in it durable, and its own name too.
    pub(super) fn sync(&self) -> Result<(), TableError> {
        // Elsewhere folders cannot be opened, and names are durable with what they name.
        if cfg!(unix) {
            let whole = self.path.canonicalize().and_then(|path| {
                File::open(&path)?.sync_all()?;
                path.parent()
                    .map_or(Ok(()), |parent| File::open(parent)?.sync_all())
            });
            whole.map_err(|error| unusable(&self.path, "cannot make durable", error))?;
        }
        Ok(())
    }
}

fn unusable(path: &Path, what: &str, error: io::Error) -> TableError {
    let kind = error.kind();
    if matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    ) {
        return TableError::Full(Box::new(error));
    }
    let may_not = matches!(
        kind,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    );
    let advice = if may_not {
        "give this user the right to write there, or choose another folder"
    } else {
        "choose another folder"
    };
    let sentence = format!(
        "{what} the data folder {} ({error}): {advice}",
        path.display()
    );
    TableError::Unusable(sentence, Some(Box::new(error)))
}
