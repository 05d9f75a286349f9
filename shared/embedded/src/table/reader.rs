//! Reads: on the caller's thread, from a connection that is free. SQLite shows each statement a snapshot of all
//! that is committed, so readers and the writer never wait for each other.
//!
//! A read takes microseconds and touches the disk only where the operating system's cache does not help, which
//! is why no thread is changed for it.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use dormouse_store::Cursor;
use dormouse_store::table::limits::PAGE_BYTES_MAX;
use dormouse_store::table::{Attributes, Index, Item, Key, Page, Query, TableError, Value};
use rusqlite::{Connection, params_from_iter};

use super::body;
use super::failure::Failure;
use super::row::{self, RowError};
use super::schema::open_to_read;
use super::select::Select;

/// Connections kept when nobody reads. As many as there are readers are opened, as a rule no more than the
/// machine has cores.
const IDLE_MAX: usize = 4;

/// The items of a page of a scan.
const SCAN_PAGE: u32 = 1_000;

/// The connections that read.
#[derive(Debug)]
pub(super) struct Readers {
    file: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(file: PathBuf) -> Self {
        Self {
            file,
            idle: Mutex::default(),
        }
    }

    /// The item under the key.
    pub(super) fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        let found = self.with_connection(|connection| row::find(connection, key))?;
        Ok(found.map(|row| row.item))
    }

    /// One page of a partition.
    pub(super) fn query(&self, query: &Query) -> Result<Page, TableError> {
        let select = Select::of(query)?;
        self.with_connection(|connection| page(connection, query, &select))
    }

    /// How many items a query has, `most` at most.
    pub(super) fn count(&self, query: &Query, most: u64) -> Result<u64, TableError> {
        let select = Select::count_of(query, most)?;
        self.with_connection(|connection| {
            let mut statement = connection.prepare_cached(&select.sql)?;
            let count: i64 =
                statement.query_row(params_from_iter(select.parameters()), |row| row.get(0))?;
            Ok(count.unsigned_abs())
        })
    }

    /// One page of everything, in the order of row numbers; the cursor is the last one's.
    pub(super) fn scan(&self, cursor: Option<&str>) -> Result<Page, TableError> {
        let after: i64 = match cursor {
            None => i64::MIN,
            Some(text) => text.parse().map_err(|_| TableError::BadCursor)?,
        };
        self.with_connection(|connection| scan_page(connection, after))
    }

    fn with_connection<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, RowError>,
    ) -> Result<T, TableError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let failed = |error: rusqlite::Error| Failure::of(&error, &self.file).error();
        let connection = idle
            .map_or_else(|| open_to_read(&self.file), Ok)
            .map_err(failed)?;
        let result = read(&connection);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
        result.map_err(|error| match error {
            RowError::Sqlite(error) => failed(error),
            RowError::Damaged(key) => Failure::damaged_item(&key).error(),
        })
    }
}

fn page(connection: &Connection, query: &Query, select: &Select) -> Result<Page, RowError> {
    let mut statement = connection.prepare_cached(&select.sql)?;
    let mut rows = statement.query(params_from_iter(select.parameters()))?;
    let mut page = Page::default();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        if page.items.len() == query.page_items_max() || bytes >= PAGE_BYTES_MAX {
            let last = page
                .items
                .last()
                .and_then(|item| Cursor::after(item, query.index));
            page.cursor = last.map(Cursor::encode);
            break;
        }
        let item = item(row, query)?;
        bytes += item.size_bytes();
        page.items.push(item);
    }
    Ok(page)
}

fn scan_page(connection: &Connection, after: i64) -> Result<Page, RowError> {
    let mut statement = connection
        .prepare_cached("SELECT id, pk, sk, body FROM items WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let mut rows = statement.query((after, SCAN_PAGE))?;
    let mut page = Page::default();
    while let Some(row) = rows.next()? {
        let key = Key::new(row.get::<_, String>(1)?, row.get::<_, String>(2)?);
        let body = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
        match body::decode(body, |_| true) {
            Ok(attributes) => page.items.push(Item { key, attributes }),
            Err(body::Damaged) => return Err(RowError::Damaged(key)),
        }
        page.cursor = Some(row.get::<_, i64>(0)?.to_string());
    }
    if page.items.len() < SCAN_PAGE as usize {
        page.cursor = None;
    }
    Ok(page)
}

fn item(row: &rusqlite::Row<'_>, query: &Query) -> Result<Item, RowError> {
    let key = Key::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?);
    let attributes = match query.index {
        None => body::decode(
            row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?,
            |_| true,
        ),
        Some(Index::One) => {
            let body = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
            body::decode(body, |name| Index::One.shows(name))
        }
        Some(index @ (Index::Two | Index::Three)) => {
            let [partition, sort] = index.keys().map(str::to_owned);
            let values = [query.partition.clone(), row.get(2)?].map(Value::S);
            Ok(Attributes::from_iter(
                [partition, sort].into_iter().zip(values),
            ))
        }
    };
    match attributes {
        Ok(attributes) => Ok(Item { key, attributes }),
        Err(body::Damaged) => Err(RowError::Damaged(key)),
    }
}
