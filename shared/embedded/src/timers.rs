//! Firing the timers of the table when they are due: one loop per process, asleep until the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_runtime::message::Task;
use dormouse_runtime::port::{Background, Clock};
use dormouse_runtime::{Message, Runtime, RuntimeError, Timer, TimerOutcome};
use dormouse_store::StoreError;
use dormouse_store::dead_letter::{DeadLetter, Letter};
use dormouse_store::timer::Timer as Row;
use tokio::sync::watch;

use crate::background::TokioBackground;
use crate::pace::{TimerKey, key};
use crate::scheduler::TableScheduler;

/// The most timers that fire at once. Those that are due beyond it wait their turn.
const FIRING_MAX: usize = 256;

/// The most rows that one look reads; the store's limit.
const ROWS_MAX: u32 = 1_000;

/// How soon a timer that could not fire is tried again, in ms; each time twice as late as the time before.
const AGAIN_MS: i64 = 500;

/// How soon it is looked again whether a pause is over, in ms. Until then nothing is read and nothing fires.
const PAUSED_MS: i64 = 1_000;

/// How often a timer that fails is tried before it becomes a dead letter.
const ATTEMPTS_MAX: u32 = 10;

/// Fires the timers of a table on the nodes of this process, in turn.
pub struct TimerDriver {
    scheduler: TableScheduler,
    nodes: Vec<Runtime>,
    clock: Arc<dyn Clock>,
    background: TokioBackground,
    under_way: Arc<Mutex<BTreeMap<TimerKey, State>>>,
}

/// How a timer stands that was found due. Its row lies in the table until the commit that it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Firing {
        attempts: u32,
    },
    /// It could not fire, and is tried again at this time.
    Again {
        at_ms: i64,
        attempts: u32,
    },
}

/// What became of one attempt.
enum Attempt {
    Done,
    /// Its instance is busy, or its commit is not visible yet.
    NotYet,
    Failed(String),
}

impl TimerDriver {
    /// Fires timers of the scheduler's table. The same background as the nodes', so that a drain waits for both.
    #[must_use]
    pub fn new(
        scheduler: TableScheduler,
        nodes: Vec<Runtime>,
        clock: Arc<dyn Clock>,
        background: TokioBackground,
    ) -> Self {
        Self {
            scheduler,
            nodes,
            clock,
            background,
            under_way: Arc::default(),
        }
    }

    /// Fires until `stop` turns true. What is firing then goes on.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut turn = 0;
        loop {
            self.scheduler.alarm().forget();
            let next = match self.look(&mut turn).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(%error, "the timers could not be read; trying again");
                    self.clock.now().0 + AGAIN_MS
                }
            };
            let pace = self.scheduler.pace();
            let now = self.clock.now().0;
            // What is due later than the next look by itself need not wake anybody.
            let next = next.min(now + pace.sleep_ms_max());
            self.scheduler.alarm().set(next);
            let rest = Duration::from_millis(pace.sleep_ms_min().unsigned_abs());
            let ms = (next - now - pace.sleep_ms_min()).max(0).unsigned_abs();
            tokio::select! {
                () = async {
                    tokio::time::sleep(rest).await;
                    tokio::select! {
                        () = tokio::time::sleep(Duration::from_millis(ms)) => {}
                        () = self.scheduler.alarm().changed() => {}
                    }
                } => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
        }
    }

    /// Fires what is due, and tells when to look again.
    async fn look(&self, turn: &mut usize) -> Result<i64, StoreError> {
        if self.nodes.iter().any(Runtime::is_paused) {
            return Ok(self.clock.now().0 + PAUSED_MS);
        }
        let pace = self.scheduler.pace();
        let (firing, waiting) = counts(&lock(&self.under_way));
        let mut room = FIRING_MAX.saturating_sub(firing);
        // One row more than may be touched, so that the next one is among them.
        let wanted = u32::try_from(firing + waiting + room + 1).unwrap_or(ROWS_MAX);
        let wanted = wanted.min(ROWS_MAX);
        let now = self.clock.now().0;
        let store = self.scheduler.store();
        let rows = store.timers_due(now + pace.horizon_ms(), wanted).await?;
        pace.tidy(now);
        let is_all = rows.len() < wanted as usize;
        self.forget_gone(&rows, is_all, now);
        let mut next = if is_all { i64::MAX } else { now + AGAIN_MS };
        for row in rows {
            if row.due_ms > next {
                break;
            }
            let fires_ms = pace.fires_ms(&row);
            if fires_ms > now {
                next = next.min(fires_ms);
                continue;
            }
            let attempts = match lock(&self.under_way).get(&key(&row)) {
                Some(State::Firing { .. }) => continue,
                Some(State::Again { at_ms, .. }) if *at_ms > now => continue,
                Some(State::Again { attempts, .. }) => *attempts,
                None => 0,
            };
            if room == 0 {
                // Those that end wake this loop.
                next = next.min(now + AGAIN_MS);
                break;
            }
            room -= 1;
            *turn += 1;
            self.fire(row, attempts, *turn);
        }
        // One whose time has come and that was not fired now found no room.
        let again = self.soonest_again().map(|at| match at > now {
            true => at,
            false => now + AGAIN_MS,
        });
        Ok(again.map_or(next, |at| at.min(next)))
    }

    /// Drops what is to be tried again and has no row any more: somebody else was done with it.
    fn forget_gone(&self, rows: &[Row], is_all: bool, now_ms: i64) {
        let there: BTreeSet<TimerKey> = rows.iter().map(key).collect();
        let seen_until_ms = if is_all {
            i64::MAX
        } else {
            rows.last().map_or(i64::MIN, |row| row.due_ms)
        };
        lock(&self.under_way).retain(|key, state| match state {
            State::Firing { .. } => true,
            State::Again { at_ms, .. } => {
                *at_ms > now_ms || key.0 >= seen_until_ms || there.contains(key)
            }
        });
    }

    fn soonest_again(&self) -> Option<i64> {
        let under_way = lock(&self.under_way);
        let again = under_way.values().filter_map(|state| match state {
            State::Again { at_ms, .. } => Some(*at_ms),
            State::Firing { .. } => None,
        });
        again.min()
    }

    fn fire(&self, row: Row, attempts: u32, turn: usize) {
        let Some(runtime) = self.nodes.get(turn % self.nodes.len().max(1)).cloned() else {
            return;
        };
        let key = key(&row);
        lock(&self.under_way).insert(key.clone(), State::Firing { attempts });
        let under_way = Arc::clone(&self.under_way);
        let (scheduler, clock) = (self.scheduler.clone(), Arc::clone(&self.clock));
        self.background.spawn(Box::pin(async move {
            let again = attempt(&runtime, &row, attempts).await;
            let now = clock.now().0;
            let firing = {
                let mut under_way = lock(&under_way);
                match again {
                    None => under_way.remove(&key),
                    Some(attempts) => {
                        let at_ms = now + (AGAIN_MS << attempts.min(7));
                        under_way.insert(key, State::Again { at_ms, attempts })
                    }
                };
                counts(&under_way).0
            };
            // Half of the places are free again, or this one wants another look.
            if firing == FIRING_MAX / 2 || again.is_some() {
                scheduler.alarm().due(now);
            }
        }));
    }
}

/// How many timers are firing, and how many are to be tried again.
fn counts(under_way: &BTreeMap<TimerKey, State>) -> (usize, usize) {
    let is_firing = |state: &&State| matches!(state, State::Firing { .. });
    let firing = under_way.values().filter(is_firing).count();
    (firing, under_way.len() - firing)
}

/// Tries to fire a timer. `Some`: it is to be tried again, after so many failures.
async fn attempt(runtime: &Runtime, row: &Row, attempts: u32) -> Option<u32> {
    let reason = match fire(runtime, row).await {
        Attempt::Done => return None,
        Attempt::NotYet => return Some(attempts),
        Attempt::Failed(reason) if attempts + 1 < ATTEMPTS_MAX => {
            tracing::warn!(id = row.id, reason, "a timer could not fire; trying again");
            return Some(attempts + 1);
        }
        Attempt::Failed(reason) => reason,
    };
    tracing::error!(id = row.id, reason, "a timer becomes a dead letter");
    match bury(runtime, row, reason).await {
        Ok(()) => None,
        Err(error) => {
            tracing::error!(id = row.id, %error, "a dead letter could not be stored");
            Some(attempts)
        }
    }
}

async fn fire(runtime: &Runtime, row: &Row) -> Attempt {
    let timer: Timer = match serde_json::from_slice(&row.body) {
        Ok(timer) => timer,
        Err(error) => return Attempt::Failed(format!("it cannot be read: {error}")),
    };
    match runtime.fire_timer(&timer).await {
        Ok(TimerOutcome::Fired(_) | TimerOutcome::Stale | TimerOutcome::Early) => Attempt::Done,
        Ok(TimerOutcome::Later) => Attempt::NotYet,
        Err(error) if error.is_busy() => Attempt::NotYet,
        Err(error) => Attempt::Failed(error.to_string()),
    }
}

/// Makes a dead letter of a timer. First the letter, then the row: a crash in between leaves both.
async fn bury(runtime: &Runtime, row: &Row, reason: String) -> Result<(), RuntimeError> {
    let store = runtime.store();
    match serde_json::from_slice::<Timer>(&row.body) {
        Ok(timer) => {
            let task = Task::Fire { timer };
            let message = Message::new(row.id.clone(), row.tenant.clone(), task);
            runtime.give_up(&message, &reason).await?;
        }
        Err(_) => {
            let now = runtime.ports().clock.now().0;
            let letter = DeadLetter {
                id: format!("{now:013}-{}", row.id.replace('/', "-")),
                at_ms: now,
                reason,
                attempts: ATTEMPTS_MAX,
                letter: Letter::Message(row.body.clone()),
            };
            store.put_dead_letter(&row.tenant, &letter).await?;
        }
    }
    store.clear_timer(&row.tenant, &row.id, row.due_ms).await?;
    Ok(())
}

/// A thread that died holding the lock has left whole entries only.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use dormouse_store::config::StoreConfig;
    use dormouse_store::{MemoryTable, Store};
    use tokio::runtime::Handle;

    use super::*;
    use crate::clock::SystemClock;

    #[tokio::test]
    async fn what_somebody_else_was_done_with_is_not_tried_again() {
        let store = Store::new(Arc::new(MemoryTable::new()), StoreConfig::embedded());
        let driver = TimerDriver::new(
            TableScheduler::new(store),
            Vec::new(),
            Arc::new(SystemClock),
            TokioBackground::new(Handle::current()),
        );
        let again = |at_ms| State::Again { at_ms, attempts: 1 };
        let key = |id: &str| (1, "default".to_owned(), id.to_owned());
        lock(&driver.under_way).insert(key("gone"), again(2));
        assert_eq!(driver.look(&mut 0).await.unwrap(), i64::MAX);
        assert!(lock(&driver.under_way).is_empty());

        let later = driver.clock.now().0 + 60_000;
        lock(&driver.under_way).insert(key("later"), again(later));
        assert_eq!(driver.look(&mut 0).await.unwrap(), later);
    }
}
