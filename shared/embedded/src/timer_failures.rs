//! Timers that fail: how often each has, and its end as a dead letter.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use dormouse_runtime::message::Task;
use dormouse_runtime::{Message, Runtime, RuntimeError, Timer};
use dormouse_store::outbox::dead_letter::{DeadLetter, Letter};
use dormouse_store::stimulus::timer::Timer as Row;

/// How often a timer that fails is tried before it becomes a dead letter.
const ATTEMPTS_MAX: u32 = 10;

/// At most so many timers are counted. Beyond that the counts begin anew.
const COUNTED_MAX: usize = 10_000;

/// How often timers have failed in this process, by tenant and id.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<BTreeMap<(String, String), u32>>);

impl Failures {
    /// Counts a failure. True: it was the last one.
    pub(crate) fn is_last(&self, row: &Row) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= COUNTED_MAX {
            counts.clear();
        }
        let count = counts.entry(key(row)).or_default();
        *count += 1;
        *count >= ATTEMPTS_MAX
    }

    /// Forgets the failures of a timer that did not fail this time.
    pub(crate) fn forget(&self, row: &Row) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !counts.is_empty() {
            counts.remove(&key(row));
        }
    }

    /// Makes a dead letter of a timer. First the letter, then the row: a crash in between leaves both. False: it could
    /// not be stored, and the timer comes again.
    pub(crate) async fn dead_letter(&self, runtime: &Runtime, row: &Row, reason: &str) -> bool {
        tracing::error!(id = row.id, reason, "a timer becomes a dead letter");
        match dead_letter(runtime, row, reason).await {
            Ok(()) => {
                self.forget(row);
                true
            }
            Err(error) => {
                tracing::error!(id = row.id, %error, "a dead letter could not be stored");
                false
            }
        }
    }
}

fn key(row: &Row) -> (String, String) {
    (row.tenant.as_str().to_owned(), row.id.clone())
}

async fn dead_letter(runtime: &Runtime, row: &Row, reason: &str) -> Result<(), RuntimeError> {
    let store = runtime.store();
    match serde_json::from_slice::<Timer>(&row.body) {
        Ok(timer) => {
            let task = Task::Fire { timer };
            let message = Message::new(row.id.clone(), row.tenant.clone(), task);
            runtime.dead_letters().give_up(&message, reason).await?;
        }
        Err(_) => {
            let now = runtime.ports().clock.now().0;
            let letter = DeadLetter {
                id: format!("{now:013}-{}", row.id.replace('/', "-")),
                at_ms: now,
                reason: reason.to_owned(),
                attempts: 1,
                letter: Letter::Message(row.body.clone()),
            };
            store.dead_letters().put(&row.tenant, &letter).await?;
        }
    }
    store
        .timers()
        .clear_timers(std::slice::from_ref(row))
        .await?;
    Ok(())
}
