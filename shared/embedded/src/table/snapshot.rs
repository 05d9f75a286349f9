//! A moment of a table, copied while another process may be writing to it.

use std::path::{Path, PathBuf};

use dormouse_store::table::TableError;
use rusqlite::Connection;
use rusqlite::backup::Backup;

use super::failure::Failure;
use super::folder::FILE;
use super::schema;

/// Pages copied by one call.
const PAGES: std::ffi::c_int = 4_096;

/// The table of a data folder as it was at one moment.
///
/// It only reads, so it takes nothing from the process that has the folder: other processes' locks stay as they are. As
/// long as it is there, what is written meanwhile stays in the write-ahead log, which grows.
#[derive(Debug)]
pub struct Snapshot {
    file: PathBuf,
    connection: Connection,
}

impl Snapshot {
    /// The table of a data folder as it is now.
    ///
    /// # Errors
    ///
    /// [`TableError::Unusable`] if there is none, it is damaged, or of a newer format.
    pub fn begin(folder: &Path) -> Result<Self, TableError> {
        let file = folder.join(FILE);
        let failed = |error: rusqlite::Error| Failure::of(&error, &file).error();
        let connection = schema::open_to_read(&file).map_err(failed)?;
        schema::check_format(&connection, &file)?;
        // The moment is that of the first read.
        connection
            .execute_batch("BEGIN; SELECT id FROM items LIMIT 1")
            .map_err(failed)?;
        Ok(Self { file, connection })
    }

    /// Copies the table into a folder that has none. When it returns, the copy is durable.
    ///
    /// # Errors
    ///
    /// [`TableError`]: then the folder has a part of a table.
    pub fn copy_to(&self, folder: &Path) -> Result<(), TableError> {
        let file = folder.join(FILE);
        let failed = |error: rusqlite::Error| Failure::of(&error, &file).error();
        let mut copy = Connection::open(&file).map_err(failed)?;
        let pages = Backup::new(&self.connection, &mut copy).map_err(failed)?;
        pages
            .run_to_completion(PAGES, std::time::Duration::ZERO, None)
            .map_err(|error| Failure::of(&error, &self.file).error())?;
        drop(pages);
        close_for_good(copy).map_err(failed)
    }

    /// Leaves the table of a folder that nobody has open as one file, which can be read where nothing can be written.
    ///
    /// # Errors
    ///
    /// [`TableError`]
    pub fn leave_one_file(folder: &Path) -> Result<(), TableError> {
        let file = folder.join(FILE);
        let failed = |error: rusqlite::Error| Failure::of(&error, &file).error();
        close_for_good(Connection::open(&file).map_err(failed)?).map_err(failed)
    }
}

/// Without a write-ahead log a reader needs no file of its own beside the table.
fn close_for_good(connection: Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "DELETE")?;
    connection.close().map_err(|(_, error)| error)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use dormouse_store::table::{Condition, Item, Key, Table as _, Value, Write};

    use super::*;
    use crate::EmbeddedTable;

    fn numbered(sort: &str, number: i64) -> Write {
        let attributes = BTreeMap::from([("n".to_owned(), Value::N(number))]);
        let key = Key::new("default/p".to_owned(), sort.to_owned());
        Write::Put(Item { key, attributes }, Condition::Always)
    }

    /// A pair that is always written together is the same in every copy, however much is written meanwhile.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_copy_is_of_one_moment() {
        let folder = tempfile::tempdir().unwrap();
        let table = Arc::new(EmbeddedTable::open(folder.path()).unwrap());
        for number in 0..2_000 {
            let filling = numbered(&format!("f{number}"), number);
            table.write(&[filling]).await.unwrap();
        }
        let ends = Arc::new(AtomicBool::new(false));
        let (writes, until) = (Arc::clone(&table), Arc::clone(&ends));
        let writer = tokio::spawn(async move {
            let mut number = 0;
            while !until.load(Ordering::Relaxed) {
                number += 1;
                let pair = [numbered("a", number), numbered("z", number)];
                writes.write(&pair).await.unwrap();
            }
            number
        });
        let mut last = None;
        for round in 0..10 {
            let to = folder.path().join(format!("copy-{round}"));
            std::fs::create_dir(&to).unwrap();
            let (from, into) = (folder.path().to_owned(), to.clone());
            let copied = tokio::task::spawn_blocking(move || {
                let snapshot = Snapshot::begin(&from)?;
                std::thread::sleep(std::time::Duration::from_millis(20));
                snapshot.copy_to(&into)
            });
            copied.await.unwrap().unwrap();
            let copy = EmbeddedTable::open(&to).unwrap();
            let read = async |sort: &str| {
                let key = Key::new("default/p".to_owned(), sort.to_owned());
                copy.get(&key).await.unwrap().map(|item| item.attributes)
            };
            assert_eq!(read("a").await, read("z").await);
            assert!(read("f1999").await.is_some());
            last = read("a").await;
        }
        assert!(last.is_some(), "nothing was written meanwhile");
        ends.store(true, Ordering::Relaxed);
        assert!(writer.await.unwrap() > 10);
    }

    #[test]
    fn a_folder_without_a_table_has_no_snapshot() {
        let folder = tempfile::tempdir().unwrap();
        Snapshot::begin(folder.path()).unwrap_err();
        assert!(folder.path().read_dir().unwrap().next().is_none());
    }
}
