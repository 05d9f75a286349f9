//! What a request does to the rows, within whatever transaction it finds itself in. The conditions of all its
//! writes are judged before the first row changes, so a refused request leaves nothing to undo.

use dormouse_store::table::{Change, Condition, Item, Key, TableError, Updated, Write, Written};
use dormouse_store::{Decision, Outcome};
use rusqlite::Connection;

use super::failure::Failure;
use super::row::{self, RowError, Stored};

/// Rows that one sweep deletes at most, so that a write never waits behind more.
const SWEEP_ROWS_MAX: u32 = 100;

/// What an operation answers, and how many rows it changed.
pub(super) struct Done<T> {
    pub(super) answer: T,
    pub(super) rows: usize,
}

/// Why an operation failed.
#[derive(Debug)]
pub(super) enum OperationError {
    /// SQLite did. The transaction has to go, with all that is in it.
    Sqlite(rusqlite::Error),
    /// The request is at fault, or the one item it is about. It has changed nothing.
    Own(TableError),
}

impl From<rusqlite::Error> for OperationError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<TableError> for OperationError {
    fn from(error: TableError) -> Self {
        Self::Own(error)
    }
}

/// Changes one item if the condition holds.
pub(super) fn update(
    connection: &Connection,
    key: &Key,
    changes: &[Change],
    condition: &Condition,
) -> Result<Done<Updated>, OperationError> {
    let (item, stored) = find(connection, key)?;
    let updated = Updated::of(key, changes, condition, item)?;
    let rows = match &updated {
        Updated::New(item) => {
            row::store(connection, item, stored.as_ref())?;
            1
        }
        Updated::Refused(_) => 0,
    };
    Ok(Done {
        answer: updated,
        rows,
    })
}

/// Does all of the writes or none.
pub(super) fn write(
    connection: &Connection,
    writes: &[Write],
) -> Result<Done<Written>, OperationError> {
    let mut stored = Vec::with_capacity(writes.len());
    let decision = Decision::of(writes, |key| {
        let (item, row) = find(connection, key)?;
        stored.push(row);
        Ok::<_, OperationError>(item)
    })?;
    let mut rows = 0;
    if let Decision::Apply(outcomes) = &decision {
        for (outcome, stored) in outcomes.iter().zip(&stored) {
            match (outcome, stored) {
                (Outcome::Keep, _) | (Outcome::Delete, None) => continue,
                (Outcome::Store(item), stored) => row::store(connection, item, stored.as_ref())?,
                (Outcome::Delete, Some(stored)) => row::delete(connection, stored)?,
            }
            rows += 1;
        }
    }
    Ok(Done {
        answer: decision.written(),
        rows,
    })
}

/// Deletes some of what is past its time to live, and says how many.
pub(super) fn sweep(connection: &Connection, now_s: i64) -> Result<Done<u64>, OperationError> {
    let rows = row::delete_expired(connection, now_s, SWEEP_ROWS_MAX)?;
    Ok(Done {
        answer: rows as u64,
        rows,
    })
}

fn find(
    connection: &Connection,
    key: &Key,
) -> Result<(Option<Item>, Option<Stored>), OperationError> {
    match row::find(connection, key) {
        Ok(Some(row)) => {
            let stored = Stored::of(&row);
            Ok((Some(row.item), Some(stored)))
        }
        Ok(None) => Ok((None, None)),
        Err(RowError::Sqlite(error)) => Err(OperationError::Sqlite(error)),
        Err(RowError::Damaged(key)) => {
            Err(OperationError::Own(Failure::damaged_item(&key).error()))
        }
    }
}
