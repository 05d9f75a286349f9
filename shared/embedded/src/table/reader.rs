//! Reads: on the caller's thread, from a connection that is free. SQLite shows each statement a snapshot of all
//! that is committed, so readers and the writer never wait for each other.
//!
//! A read takes microseconds and touches the disk only where the operating system's cache does not help, which
//! is why no thread is changed for it.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use dormouse_store::Cursor;
use dormouse_store::table::limits::PAGE_BYTES_MAX;
use dormouse_store::table::scan::Scanned;
use dormouse_store::table::{Attributes, Index, Item, Key, Page, Query, TableError, Value};
use rusqlite::{Connection, params_from_iter};

use super::body;
use super::failure::Failure;
use super::row::{self, RowError};
use super::schema::open_to_read;
use super::select::Select;
use super::told::Told;

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
    told: Told,
}

impl Readers {
    pub(super) fn new(file: PathBuf) -> Self {
        Self {
            file,
            idle: Mutex::default(),
            told: Told::default(),
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
        self.with_connection(|connection| page(connection, query, &select, &self.told))
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

    /// One page of everything, in the order of row numbers; the cursor is the last one's. A row that does not read
    /// back is named, and the others come.
    pub(super) fn scan(&self, cursor: Option<&str>) -> Result<Scanned, TableError> {
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
            RowError::Damaged(key) => {
                self.told.damaged(&key);
                Failure::damaged_item(&key).error()
            }
        })
    }
}

/// One page of a query.
///
/// A list of an index leaves out a row that does not read back: the others are still wanted. A partition does not unless
/// the caller says so: from what is missing there, callers conclude what to do.
fn page(
    connection: &Connection,
    query: &Query,
    select: &Select,
    told: &Told,
) -> Result<Page, RowError> {
    let leaves_out = query.leaves_out_damaged || query.index.is_some();
    let mut statement = connection.prepare_cached(&select.sql)?;
    let mut rows = statement.query(params_from_iter(select.parameters()))?;
    let mut page = Page::default();
    let (mut read, mut bytes) = (0, 0);
    // Where the next page begins if the last row was left out.
    let mut left_out = None;
    while let Some(row) = rows.next()? {
        if read == query.page_items_max() || bytes >= PAGE_BYTES_MAX {
            let last = page.items.last();
            let last = left_out.or_else(|| last.and_then(|item| Cursor::after(item, query.index)));
            page.cursor = last.map(Cursor::encode);
            break;
        }
        read += 1;
        match item(row, query) {
            Ok(item) => {
                bytes += item.size_bytes();
                page.items.push(item);
                left_out = None;
            }
            Err(RowError::Damaged(key)) if leaves_out => {
                told.damaged(&key);
                let key = query.index.map(|_| key);
                left_out = Some(Cursor {
                    sort: row.get(2)?,
                    key,
                });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(page)
}

fn scan_page(connection: &Connection, after: i64) -> Result<Scanned, RowError> {
    let mut statement = connection
        .prepare_cached("SELECT id, pk, sk, body FROM items WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let mut rows = statement.query((after, SCAN_PAGE))?;
    let mut page = Scanned::default();
    let mut read = 0;
    while let Some(row) = rows.next()? {
        read += 1;
        page.cursor = Some(row.get::<_, i64>(0)?.to_string());
        match whole(row) {
            Some(item) => page.items.push(item),
            None => page.damaged.push(Key::new(lossy(row, 1), lossy(row, 2))),
        }
    }
    if read < SCAN_PAGE {
        page.cursor = None;
    }
    Ok(page)
}

/// The item of a row of a scan, if all of it reads back.
fn whole(row: &rusqlite::Row<'_>) -> Option<Item> {
    let key = Key::new(row.get::<_, String>(1).ok()?, row.get::<_, String>(2).ok()?);
    let attributes = body::decode(row.get_ref(3).ok()?.as_blob().ok()?, |_| true).ok()?;
    Some(Item { key, attributes })
}

/// As much of a text as reads back.
fn lossy(row: &rusqlite::Row<'_>, column: usize) -> String {
    let bytes = row.get_ref(column).ok().and_then(|v| v.as_bytes().ok());
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
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

#[cfg(test)]
mod tests {
    use dormouse_store::table::scan::Scan as _;
    use dormouse_store::table::{Condition, Table as _, Write};

    use super::*;
    use crate::EmbeddedTable;

    fn listed(number: u32) -> Write {
        let text = |text: String| Value::S(text);
        let [partition, sort] = Index::One.keys().map(str::to_owned);
        let attributes = Attributes::from([
            (partition, text("list".into())),
            (sort, text(format!("s{number}"))),
        ]);
        let key = Key::new("p", format!("k{number}"));
        Write::Put(Item { key, attributes }, Condition::Always)
    }

    /// A table of six listed items, in which the bodies of some are damaged.
    async fn damaged(folder: &std::path::Path, numbers: &[u32]) -> EmbeddedTable {
        let table = EmbeddedTable::open(folder).unwrap();
        table
            .write(&(0..6).map(listed).collect::<Vec<_>>())
            .await
            .unwrap();
        drop(table);
        let connection = Connection::open(folder.join("dormouse.sqlite")).unwrap();
        for number in numbers {
            let damage = "UPDATE items SET body = substr(body, 2) WHERE sk = ?1";
            connection.execute(damage, [format!("k{number}")]).unwrap();
        }
        drop(connection);
        EmbeddedTable::open(folder).unwrap()
    }

    #[tokio::test]
    async fn a_list_leaves_out_what_is_damaged_and_goes_on_at_every_page_size() {
        for numbers in [&[0][..], &[1, 2], &[3], &[5], &[0, 1, 2, 3, 4, 5], &[]] {
            let folder = tempfile::tempdir().unwrap();
            let table = damaged(folder.path(), numbers).await;
            for (limit, descending) in (1..=7).flat_map(|l| [(l, false), (l, true)]) {
                let mut query = Query {
                    index: Some(Index::One),
                    until: String::new(),
                    limit,
                    descending,
                    ..Query::prefix("list", "")
                };
                let mut found = Vec::new();
                loop {
                    let page = table.query(&query).await.unwrap();
                    found.extend(page.items.into_iter().map(|item| item.key.sort));
                    query.cursor = page.cursor;
                    if query.cursor.is_none() {
                        break;
                    }
                }
                found.sort();
                let whole = (0..6).filter(|number| !numbers.contains(number));
                let whole: Vec<_> = whole.map(|number| format!("k{number}")).collect();
                assert_eq!(found, whole, "{numbers:?} by {limit}");
            }
        }
    }

    #[tokio::test]
    async fn a_scan_names_what_is_damaged_and_a_partition_and_a_get_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let table = damaged(folder.path(), &[1, 4]).await;
        let scanned = table.scan_readable(None).await.unwrap();
        assert_eq!(scanned.damaged, [Key::new("p", "k1"), Key::new("p", "k4")]);
        assert_eq!(scanned.items.len(), 4);
        table.scan(None).await.unwrap_err();
        table.get(&scanned.damaged[0]).await.unwrap_err();
        table.query(&Query::prefix("p", "")).await.unwrap_err();
        assert!(table.get(&Key::new("p", "k2")).await.unwrap().is_some());
    }
}
