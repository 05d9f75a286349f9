//! One item as one row: found by its key, stored, deleted. Index keys and time to live are columns beside the
//! body, copied from it for SQLite to search by.

use dormouse_store::table::{Index, Item, Key, Value};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::body;

/// A stored item and the number of its row.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) item: Item,
}

/// Why a row could not be read.
#[derive(Debug)]
pub(super) enum RowError {
    /// SQLite failed.
    Sqlite(rusqlite::Error),
    /// The body of this item is damaged.
    Damaged(Key),
}

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// The item under the key.
pub(super) fn find(connection: &Connection, key: &Key) -> Result<Option<Row>, RowError> {
    let mut statement =
        connection.prepare_cached("SELECT id, body FROM items WHERE pk = ?1 AND sk = ?2")?;
    let found = statement
        .query_row((&key.partition, &key.sort), |row| {
            Ok((
                row.get(0)?,
                body::decode(row.get_ref(1)?.as_blob()?, |_| true),
            ))
        })
        .optional()?;
    match found {
        None => Ok(None),
        Some((id, Ok(attributes))) => Ok(Some(Row {
            id,
            item: Item {
                key: key.clone(),
                attributes,
            },
        })),
        Some((_, Err(body::Damaged))) => Err(RowError::Damaged(key.clone())),
    }
}

/// Stores the item in place of what was found under its key.
pub(super) fn store(
    connection: &Connection,
    item: &Item,
    before: Option<&Stored>,
) -> rusqlite::Result<()> {
    let body = body::encode(&item.attributes);
    let columns = Columns::of(item);
    match before {
        // Most updates move nothing within the indexes, and SQLite writes an index whenever it is named.
        Some(stored) if stored.columns == columns => {
            connection
                .prepare_cached("UPDATE items SET body = ?2 WHERE id = ?1")?
                .execute((stored.id, body))?;
        }
        Some(stored) => {
            let [one, two, three] = &columns.indexes;
            connection
                .prepare_cached(
                    "UPDATE items SET body = ?2, ttl = ?3, g1p = ?4, g1s = ?5, g2p = ?6, g2s = ?7,
                     g3p = ?8, g3s = ?9 WHERE id = ?1",
                )?
                .execute(params![
                    stored.id,
                    body,
                    columns.ttl,
                    one.0,
                    one.1,
                    two.0,
                    two.1,
                    three.0,
                    three.1
                ])?;
        }
        None => {
            let [one, two, three] = &columns.indexes;
            connection
                .prepare_cached(
                    "INSERT INTO items (pk, sk, body, ttl, g1p, g1s, g2p, g2s, g3p, g3s)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                )?
                .execute(params![
                    item.key.partition,
                    item.key.sort,
                    body,
                    columns.ttl,
                    one.0,
                    one.1,
                    two.0,
                    two.1,
                    three.0,
                    three.1
                ])?;
        }
    }
    Ok(())
}

/// Deletes the row.
pub(super) fn delete(connection: &Connection, stored: &Stored) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM items WHERE id = ?1")?
        .execute([stored.id])?;
    Ok(())
}

/// Deletes some of the rows whose time to live is past, and says how many.
pub(super) fn delete_expired(
    connection: &Connection,
    now_s: i64,
    rows_max: u32,
) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "DELETE FROM items WHERE id IN
             (SELECT id FROM items WHERE ttl IS NOT NULL AND ttl < ?1 LIMIT ?2)",
        )?
        .execute((now_s, rows_max))
}

/// What must be known of a row to write it again.
#[derive(Debug)]
pub(super) struct Stored {
    id: i64,
    columns: Columns,
}

impl Stored {
    /// Of a row that was found.
    pub(super) fn of(row: &Row) -> Self {
        Self {
            id: row.id,
            columns: Columns::of(&row.item),
        }
    }
}

type Pair = (Option<String>, Option<String>);

/// The columns beside the body.
#[derive(Debug, PartialEq, Eq)]
struct Columns {
    ttl: Option<i64>,
    indexes: [Pair; 3],
}

impl Columns {
    fn of(item: &Item) -> Self {
        let ttl = match item.attributes.get("ttl") {
            Some(Value::N(ttl_s)) => Some(*ttl_s),
            Some(Value::S(_) | Value::B(_) | Value::Ss(_)) | None => None,
        };
        // Both or neither: half a key is in no index.
        let indexes = Index::EVERY.map(|index| match item.index_key(index) {
            Some([partition, sort]) => (Some(partition.to_owned()), Some(sort.to_owned())),
            None => (None, None),
        });
        Self { ttl, indexes }
    }
}
