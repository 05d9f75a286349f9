//! The data folder: created when missing, held by one process at a time.
//!
//! It contains the table's file with SQLite's two companions (`-wal`, `-shm`), and a lock file whose lock the
//! operating system gives back however the process ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use dormouse_store::table::TableError;

/// The name of the table's file.
pub(super) const FILE: &str = "dormouse.sqlite";

/// A data folder that is ours until this is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// True if the folder was taken before.
    was_taken: bool,
    _lock: File,
}

impl Folder {
    /// Creates the folder if it is missing, and takes it.
    pub(super) fn lock(path: &Path) -> Result<Self, TableError> {
        create_private(path).map_err(|error| unusable(path, "cannot create", error))?;
        let was_taken = path.join("lock").exists();
        let lock = private()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("lock"))
            .map_err(|error| unusable(path, "cannot write in", error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                was_taken,
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(TableError::InUse(format!(
                "the data folder {} is in use by another process: stop that one, or choose another folder",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(unusable(path, "cannot lock", error)),
        }
    }

    /// The table's file.
    pub(super) fn file(&self) -> PathBuf {
        self.path.join(FILE)
    }

    /// Creates the table's file if it is missing: beside its place, and moved there once it is durable, so
    /// that a power cut leaves a whole file or none. Later on the file must not be opened but by SQLite: closing
    /// any handle of it would give back all locks that this process has on it.
    pub(super) fn create_file(
        &self,
        create: impl FnOnce(&Path) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let file = self.file();
        if file.metadata().is_ok_and(|file| file.len() > 0) {
            return Ok(());
        }
        if let Some(left) = self.left_of_a_table() {
            return Err(self.table_missing(left));
        }
        let new = self.path.join("dormouse.sqlite.new");
        let unusable = |error| unusable(&self.path, "cannot create the table in", error);
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unusable(error)),
            Ok(()) | Err(_) => {}
        }
        // SQLite takes the empty file as it is, and gives its companions the same rights.
        private()
            .create_new(true)
            .write(true)
            .open(&new)
            .map_err(unusable)?;
        create(&new)?;
        File::open(&new)
            .and_then(|new| new.sync_all())
            .map_err(unusable)?;
        std::fs::rename(&new, &file).map_err(unusable)?;
        self.sync_names().map_err(unusable)
    }

    /// What lies in a folder only once there was a table in it. A first start makes the table first.
    fn left_of_a_table(&self) -> Option<&'static str> {
        let has = |name| self.path.join(name).exists();
        let log = self.path.join("dormouse.sqlite-wal").metadata();
        let states = self.path.join("blobs").read_dir();
        if log.is_ok_and(|log| log.len() > 0) {
            Some("dormouse.sqlite-wal")
        } else if states.is_ok_and(|mut states| states.next().is_some()) {
            Some("blobs")
        } else if has("cli-key") && has("secrets.key") {
            // Alone, the keys of secrets may have been prepared, and the other one be of a server over DynamoDB.
            Some("secrets.key")
        } else if has("cli-key") && self.was_taken {
            Some("cli-key")
        } else {
            None
        }
    }

    fn table_missing(&self, left: &str) -> TableError {
        let (folder, file) = (self.path.display(), self.file());
        let state = match file.exists() {
            true => "is empty",
            false => "is missing",
        };
        let sentence = format!(
            "{} {state}, but {left} shows that the data folder {folder} had a table: put the file back or restore a \
             backup, or move the rest of the folder away to begin with an empty one",
            file.display()
        );
        TableError::Unusable(sentence, None)
    }

    /// Makes the names in the folder durable, and the folder's own.
    ///
    /// Those of SQLite's companions are SQLite's business: it syncs the folder with the first fsync of each.
    fn sync_names(&self) -> io::Result<()> {
        // Elsewhere folders cannot be opened, and names are durable with what they name.
        if cfg!(unix) {
            let parent = self
                .path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            File::open(&self.path)?.sync_all()?;
            File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(())
    }
}

/// Creates a folder that its user alone may enter, with those around it that are missing. One that is there stays as it is.
fn create_private(path: &Path) -> io::Result<()> {
    let mut folder = std::fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// Options for files that their user alone may read.
fn private() -> std::fs::OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::EmbeddedTable;

    fn opened(files: &[(&str, &str)]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let opened = EmbeddedTable::open(folder.path());
        let had_table = folder.path().join(FILE).metadata();
        assert_eq!(opened.is_ok(), had_table.is_ok_and(|file| file.len() > 0));
        opened.map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn a_folder_that_has_lost_its_table_is_refused() {
        let of_a_table: [&[(&str, &str)]; 5] = [
            &[("dormouse.sqlite-wal", "x")],
            &[(FILE, ""), ("dormouse.sqlite-wal", "x")],
            &[("blobs/ab/cd", "x")],
            &[("secrets.key", "x"), ("cli-key", "x")],
            &[("lock", ""), ("cli-key", "x")],
        ];
        for files in of_a_table {
            let sentence = opened(files).unwrap_err();
            assert!(sentence.contains("restore a backup"), "{sentence}");
        }
        let emptied = opened(&[(FILE, ""), ("blobs/ab/cd", "x")]).unwrap_err();
        assert!(emptied.contains("is empty"), "{emptied}");
    }

    #[test]
    fn a_first_start_that_was_prepared_or_cut_off_is_repeated() {
        let beginnings: [&[(&str, &str)]; 6] = [
            &[],
            &[("lock", "")],
            &[("lock", ""), ("dormouse.sqlite.new", "part")],
            &[("secrets.key", "x")],
            &[("secrets.key", "x"), ("lock", "")],
            &[("cli-key", "x")],
        ];
        for files in beginnings {
            opened(files).unwrap();
        }
    }
}
