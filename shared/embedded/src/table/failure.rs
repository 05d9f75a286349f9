//! What SQLite's error codes mean to the users of a table. The only file that reads them.

use std::fmt::Display;
use std::path::Path;

use dormouse_store::table::{DamagedItem, Key, TableError};
use rusqlite::ErrorCode;

/// Why a statement failed, by what can be done about it.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// Another process has the file locked.
    Busy,
    /// No room on the disk.
    Full(String),
    /// The file is damaged, or no database at all.
    Damaged(String),
    /// One item is.
    DamagedItem(Key),
    /// The disk or the permissions; whatever was under way has not happened.
    Disk(String),
    /// The file is not in its folder any more: what is written goes where the next start does not look.
    Gone(String),
}

impl Failure {
    /// Reads the error of a statement on the file.
    pub(super) fn of(error: &rusqlite::Error, file: &Path) -> Self {
        let said = format!("{}: {error}", file.display());
        let Some(code) = error.sqlite_error_code() else {
            return Self::Damaged(said);
        };
        if matches!(code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) {
            Self::Busy
        } else if code == ErrorCode::DiskFull {
            Self::Full(said)
        } else if matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) {
            Self::Damaged(said)
        } else {
            Self::Disk(said)
        }
    }

    /// An item's body that cannot be read.
    pub(super) fn damaged_item(key: &Key) -> Self {
        Self::DamagedItem(key.clone())
    }

    /// As the port's error.
    pub(super) fn error(&self) -> TableError {
        match self {
            Self::Busy => TableError::Busy,
            Self::Full(said) => TableError::Full(said.as_str().into()),
            Self::Damaged(said) => TableError::Unusable(damaged(said), None),
            Self::DamagedItem(key) => {
                let source = DamagedItem(key.clone());
                TableError::Unusable(damaged(&source), Some(Box::new(source)))
            }
            Self::Disk(said) => TableError::Unusable(
                format!(
                    "its file cannot be read or written ({said}): check the disk and the rights of this user"
                ),
                None,
            ),
            Self::Gone(file) => TableError::Unusable(
                format!(
                    "its file {file} was moved, removed or replaced while the server was running, so nothing more \
                     is written or read: stop the server, put the data folder back or restore a backup, and start \
                     again"
                ),
                None,
            ),
        }
    }

    /// As the port's error for what may have happened all the same.
    pub(super) fn unknown(&self) -> TableError {
        TableError::Unknown(Box::new(self.error()))
    }
}

fn damaged(what: &dyn Display) -> String {
    format!(
        "its file is damaged or not a table of Dormouse ({what}): restore the data folder from a backup, or move it \
         away to begin with an empty one"
    )
}

/// Whether the error of a commit leaves open if it happened: a failed fsync may have written all or nothing.
pub(super) fn leaves_commit_open(error: &rusqlite::Error) -> bool {
    let nothing_happened = [
        ErrorCode::DiskFull,
        ErrorCode::DatabaseBusy,
        ErrorCode::DatabaseLocked,
    ];
    error
        .sqlite_error_code()
        .is_none_or(|code| !nothing_happened.contains(&code))
}
