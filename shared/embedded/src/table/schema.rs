//! The file's format: its tables, its number, and the settings of every connection to it.
//!
//! Bodies lie in the leaves of a table by row number, and a unique index leads from key to number. A table
//! ordered by key itself (`WITHOUT ROWID`) would keep bodies of over a kilobyte in pages of their own and in its
//! inner nodes: 100,000 items of 2 KB took three times as long to update in it.
//!
//! Durability rests on the write-ahead log. Under `synchronous=NORMAL` SQLite appends each commit to it without
//! an fsync, and fsyncs the log before it moves anything of it into the main file, and the main file before it
//! begins the log anew. A frame of the log is read back only if every frame before it is whole. So whatever a power
//! cut leaves of the log is a beginning of what was committed, in order: no commit is there without those before
//! it. That is what `Ordered` promises; for `Durable` the log is fsynced before the answer ([`super::log`]).

use std::path::Path;
use std::time::Duration;

use dormouse_store::table::TableError;
use rusqlite::{Connection, OpenFlags};

use super::Options;
use super::failure::Failure;
use super::folder::Folder;

/// "Dorm", in the place of the header where tools like `file` look for a name.
const APPLICATION_ID: i32 = 0x446f_726d;

/// The format that this build writes. One that reads an older format counts up and converts here.
const FORMAT: i32 = 1;

/// How long another process (somebody's `sqlite3`) may hold a lock before a call gives up.
const BUSY_WAIT: Duration = Duration::from_secs(2);

/// The bytes of a page; SQLite's own default, and the unit of [`Options::size_bytes_max`].
const PAGE_BYTES: u64 = 4_096;

/// The tables and their indexes.
pub(super) const TABLES: &str = "
    CREATE TABLE items (
        id INTEGER PRIMARY KEY,
        pk TEXT NOT NULL,
        sk TEXT NOT NULL,
        body BLOB NOT NULL,
        ttl INTEGER,
        g1p TEXT, g1s TEXT,
        g2p TEXT, g2s TEXT,
        g3p TEXT, g3s TEXT
    );
    CREATE UNIQUE INDEX items_key ON items (pk, sk);
    CREATE INDEX items_ttl ON items (ttl) WHERE ttl IS NOT NULL;
    CREATE INDEX items_g1 ON items (g1p, g1s, pk, sk) WHERE g1p IS NOT NULL;
    CREATE INDEX items_g2 ON items (g2p, g2s, pk, sk) WHERE g2p IS NOT NULL;
    CREATE INDEX items_g3 ON items (g3p, g3s, pk, sk) WHERE g3p IS NOT NULL;
";

/// Opens the connection that writes, and creates or checks the tables.
pub(super) fn open_to_write(folder: &Folder, options: Options) -> Result<Connection, TableError> {
    let file = folder.file();
    let failed = |error: rusqlite::Error| Failure::of(&error, &file).error();
    folder.create_file(|new| create(new).map_err(|error| Failure::of(&error, new).error()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&file, flags).map_err(failed)?;
    set_up(&connection, 4_096).map_err(failed)?;
    check_format(&connection, &file)?;
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(failed)?;
    connection
        .pragma_update(None, "synchronous", "NORMAL")
        .map_err(failed)?;
    // A file that was without a log, as a backup is, has one from the first read on.
    number(&connection, "user_version").map_err(failed)?;
    if let Some(bytes) = options.size_bytes_max {
        let pages = (bytes / PAGE_BYTES).max(1);
        connection
            .pragma_update(None, "max_page_count", pages)
            .map_err(failed)?;
    }
    Ok(connection)
}

/// Opens a connection that reads. There must be one that writes.
pub(super) fn open_to_read(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    set_up(&connection, 1_024)?;
    Ok(connection)
}

fn set_up(connection: &Connection, cache_kib: i64) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_WAIT)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "cache_size", -cache_kib)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // The writer moves the log into the main file itself, between two groups. Exactly one connection writes
    // and moves: SQLite before 3.51.3 can lose pages where one connection moves while another one writes.
    connection.pragma_update(None, "wal_autocheckpoint", 0)
}

/// Creates a file with the tables. Nothing of it is durable yet.
fn create(file: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(file)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch(&format!(
        "BEGIN; {TABLES}
         PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};
         COMMIT; PRAGMA journal_mode = WAL;"
    ))
}

/// Refuses a file that is another program's, or from the future.
pub(super) fn check_format(connection: &Connection, file: &Path) -> Result<(), TableError> {
    let failed = |error: rusqlite::Error| Failure::of(&error, file).error();
    let application = number(connection, "application_id").map_err(failed)?;
    let format = number(connection, "user_version").map_err(failed)?;
    let file = file.display();
    if application != APPLICATION_ID {
        return Err(Failure::Damaged(format!("{file}: another program's tables")).error());
    }
    if format > FORMAT {
        let sentence = format!(
            "{file} has format {format}, and this version of Dormouse reads up to {FORMAT}: use a newer version"
        );
        return Err(TableError::Unusable(sentence, None));
    }
    Ok(())
}

fn number(connection: &Connection, name: &str) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
