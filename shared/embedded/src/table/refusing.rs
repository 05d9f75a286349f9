//! Whether the table refuses writes, for monitors: a full disk answers every read.
//!
//! A refused write is remembered. From then on a monitor's question makes the writer try a write of its own, once a
//! second at most. Without a refused write a question writes nothing, so it costs nothing to ask often.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use dormouse_store::table::{Attributes, Item, Key, Value};
use rusqlite::Connection;

use super::failure::Failure;
use super::operation::{Done, OperationError};
use super::row::{self, RowError, Stored};

/// Time between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// Bytes of an attempt: a large commit must fit, or small writes into the last free pages would look like success.
const ATTEMPT_BYTES: usize = 512 << 10;

/// The last refusal, until an attempt succeeds.
#[derive(Debug, Default)]
pub(super) struct Refusing(Mutex<Option<Refused>>);

#[derive(Debug)]
struct Refused {
    failure: Failure,
    /// Time of the last attempt.
    tried: Instant,
}

/// What is known about writes.
#[derive(Debug)]
pub(super) enum Known {
    /// None was refused.
    Accepted,
    /// One was refused, and the last attempt is recent.
    Refused(Failure),
    /// One was refused, and the caller is to make the next attempt.
    Due,
}

impl Refusing {
    /// Remembers that a write was refused.
    pub(super) fn refuse(&self, failure: &Failure) {
        let mut state = self.state();
        // The time of the last attempt stays: writes that keep failing must not put the next one off for ever.
        let tried = state.take().map_or_else(Instant::now, |last| last.tried);
        let failure = failure.clone();
        *state = Some(Refused { failure, tried });
    }

    /// Forgets it: an attempt has succeeded.
    pub(super) fn accept(&self) {
        *self.state() = None;
    }

    /// What is known. Of all callers within a second, one is told to try.
    pub(super) fn known(&self, now: Instant) -> Known {
        match self.state().as_mut() {
            None => Known::Accepted,
            Some(last) if now.saturating_duration_since(last.tried) < PAUSE => {
                Known::Refused(last.failure.clone())
            }
            Some(last) => {
                last.tried = now;
                Known::Due
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, Option<Refused>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Key of the attempt's row.
fn key() -> Key {
    Key::new("attempt", "attempt")
}

/// Stores the attempt's row. It is past its time to live: a sweep deletes what a crash leaves.
pub(super) fn store(connection: &Connection) -> Result<Done<()>, OperationError> {
    let attributes = Attributes::from([
        (
            "b".to_owned(),
            Value::B(Bytes::from(vec![0; ATTEMPT_BYTES])),
        ),
        ("ttl".to_owned(), Value::N(1)),
    ]);
    let key = key();
    let stored = stored(connection, &key)?;
    row::store(connection, &Item { key, attributes }, stored.as_ref())?;
    Ok(Done {
        answer: (),
        rows: 1,
    })
}

/// Deletes the attempt's row.
pub(super) fn delete(connection: &Connection) -> Result<Done<()>, OperationError> {
    let stored = stored(connection, &key())?;
    let rows = usize::from(stored.is_some());
    if let Some(stored) = stored {
        row::delete(connection, &stored)?;
    }
    Ok(Done { answer: (), rows })
}

fn stored(connection: &Connection, key: &Key) -> Result<Option<Stored>, OperationError> {
    match row::find(connection, key) {
        Ok(found) => Ok(found.as_ref().map(Stored::of)),
        Err(RowError::Sqlite(error)) => Err(OperationError::Sqlite(error)),
        Err(RowError::Damaged(key)) => {
            Err(OperationError::Own(Failure::damaged_item(&key).error()))
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_store::table::scan::Scan as _;
    use dormouse_store::table::{Condition, Table as _, TableError, Write};

    use super::*;
    use crate::{EmbeddedTable, Options};

    #[test]
    fn of_many_that_ask_one_a_second_makes_an_attempt() {
        let refusing = Refusing::default();
        let now = Instant::now();
        assert!(matches!(refusing.known(now), Known::Accepted));
        refusing.refuse(&Failure::Busy);
        let later = |ms| Instant::now() + Duration::from_millis(ms);
        assert!(matches!(refusing.known(now), Known::Refused(Failure::Busy)));
        assert!(matches!(refusing.known(later(1_000)), Known::Due));
        refusing.refuse(&Failure::Full(String::new()));
        let known = refusing.known(later(1_500));
        assert!(
            matches!(known, Known::Refused(Failure::Full(_))),
            "{known:?}"
        );
        assert!(matches!(refusing.known(later(2_100)), Known::Due));
        refusing.accept();
        assert!(matches!(refusing.known(later(2_100)), Known::Accepted));
    }

    fn large(number: u32) -> Write {
        let body = Value::B(Bytes::from(vec![7; 300 << 10]));
        let attributes = Attributes::from([("b".to_owned(), body)]);
        let key = Key::new("large", number.to_string());
        Write::Put(Item { key, attributes }, Condition::Always)
    }

    #[tokio::test]
    async fn a_full_table_says_so_until_it_has_room_and_an_attempt_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            size_bytes_max: Some(4 << 20),
        };
        let table = EmbeddedTable::open_with(folder.path(), options).unwrap();
        table.accepts_writes().await.unwrap();
        let mut number = 0;
        while table.write(&[large(number)]).await.is_ok() {
            number += 1;
        }
        table.accepts_writes().await.unwrap_err();
        for seconds in 1..3 {
            let now = Instant::now() + PAUSE * seconds;
            let refused = table.accepts_writes_at(now).await.unwrap_err();
            assert!(matches!(refused, TableError::Full(_)), "{refused:?}");
            // A small write that still fits is not room for all.
            let small = Item {
                key: Key::new("small", "s"),
                attributes: Attributes::new(),
            };
            table
                .write(&[Write::Put(small, Condition::Always)])
                .await
                .unwrap();
        }
        let delete = |number: u32| Write::Delete(large(number).key().clone(), Condition::Always);
        let deletes: Vec<Write> = (0..number).map(delete).collect();
        table.write(&deletes).await.unwrap();
        table
            .accepts_writes_at(Instant::now() + PAUSE * 4)
            .await
            .unwrap();
        let left = table.scan_readable(None).await.unwrap();
        assert_eq!(left.items.len(), 1, "the small one");
        table.accepts_writes().await.unwrap();
    }
}
