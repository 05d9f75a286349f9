//! Firing the timers of the table when they are due: one loop per process, asleep until the next one.
//!
//! Timers of one instance fire together, in one place however many they are, so that no instance holds up others. What
//! cannot fire yet moves to a later row, so that no row holds up those behind it. Places go to tenants in turn.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_runtime::Runtime;
use dormouse_runtime::port::{Background, Clock};
use dormouse_store::StoreError;
use dormouse_store::stimulus::timer::Timer as Row;
use tokio::sync::watch;

use crate::scheduler::TableScheduler;
use crate::timer_failures::Failures;
use crate::timer_firing::fire;

/// The most instances whose timers fire at once. Those beyond it wait their turn.
const FIRING_MAX: usize = 256;

/// The most timers of one instance that fire together.
const TOGETHER_MAX: usize = 500;

/// The rows of one query; the store's limit.
const ROWS_A_PAGE: u32 = 1_000;

/// The most pages that one look reads of a shard. Beyond that lie the timers of at most so many thousand others that are
/// due earlier and are being fired.
const PAGES_MAX: usize = 100;

/// How soon to look again when there was no room, or the table could not be read, in ms.
const AGAIN_MS: i64 = 500;

/// How soon it is looked again whether a pause is over, in ms. Until then nothing is read and nothing fires.
const PAUSED_MS: i64 = 1_000;

/// How long a place rests of which the table could not be told what became of it, in ms: it takes nothing right now.
const REFUSED_MS: u64 = 1_000;

/// Whose timers fire together: the tenant, and the instance or the recurring trigger.
type Place = (String, String);

/// Fires the timers of a table on the nodes of this process, in turn.
pub struct TimerDriver {
    scheduler: TableScheduler,
    nodes: Vec<Runtime>,
    clock: Arc<dyn Clock>,
    background: Arc<dyn Background>,
    firing: Arc<Mutex<BTreeMap<Place, Firing>>>,
    failures: Arc<Failures>,
}

/// What is firing of a place.
#[derive(Debug, Default)]
struct Firing {
    /// The ids of its timers, and the times of their rows.
    rows: BTreeSet<(String, i64)>,
    /// Whether a timer was due meanwhile that is not among them.
    has_more: bool,
}

/// Timers that are due together.
#[derive(Default)]
struct Due {
    rows: Vec<Row>,
    /// Whether there were more of them.
    has_more: bool,
}

/// What one look has found.
struct Look {
    /// When something is due that is not due yet, in ms since 1970.
    next_ms: i64,
    /// What is due, by tenant, in order of time.
    due: BTreeMap<String, VecDeque<Place>>,
    timers: BTreeMap<Place, Due>,
}

impl TimerDriver {
    /// Fires timers of the scheduler's table. The same background as the nodes', so that a drain waits for both.
    #[must_use]
    pub fn new(
        scheduler: TableScheduler,
        nodes: Vec<Runtime>,
        clock: Arc<dyn Clock>,
        background: Arc<dyn Background>,
    ) -> Self {
        Self {
            scheduler,
            nodes,
            clock,
            background,
            firing: Arc::default(),
            failures: Arc::default(),
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
            let rest_ms = pace.sleep_ms_min().unsigned_abs();
            let ms = (next - now - pace.sleep_ms_min()).max(0).unsigned_abs();
            // In order, so that a run of the simulation can be repeated.
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                () = async {
                    self.clock.sleep(rest_ms).await;
                    tokio::select! {
                        biased;
                        () = self.clock.sleep(ms) => {}
                        () = self.scheduler.alarm().changed() => {}
                    }
                } => {}
            }
        }
    }

    /// Fires what is due, and answers when to look again, in ms since 1970. `turn` counts what was fired, so that the
    /// nodes of the process take turns.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the timers could not be read.
    pub async fn look(&self, turn: &mut usize) -> Result<i64, StoreError> {
        let now = self.clock.now().0;
        if self.nodes.iter().any(|node| node.pauses().is_paused()) {
            return Ok(now + PAUSED_MS);
        }
        let mut room = FIRING_MAX.saturating_sub(lock(&self.firing).len());
        let mut look = Look {
            next_ms: i64::MAX,
            due: BTreeMap::new(),
            timers: BTreeMap::new(),
        };
        for shard in 0..self.scheduler.store().timers().timer_shards() {
            self.look_at(shard, now, &mut look).await?;
        }
        self.scheduler.pace().tidy(now);
        let mut is_full = false;
        while let Some(place) = look.next_turn() {
            if room == 0 {
                is_full = true;
                break;
            }
            if let Some(due) = look.timers.remove(&place) {
                room -= 1;
                *turn += 1;
                self.fire(place, due, *turn);
            }
        }
        // Those that end wake this loop.
        Ok(if is_full {
            look.next_ms.min(now + AGAIN_MS)
        } else {
            look.next_ms
        })
    }

    /// Reads what is due in a shard, page by page, past the timers that are firing.
    async fn look_at(&self, shard: u16, now: i64, look: &mut Look) -> Result<(), StoreError> {
        let pace = self.scheduler.pace();
        let until = now + pace.horizon_ms();
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let store = self.scheduler.store();
            let page = store
                .timers()
                .timers_due(shard, until, ROWS_A_PAGE, cursor)
                .await?;
            let mut firing = lock(&self.firing);
            for row in page.timers {
                if row.due_ms > look.next_ms {
                    return Ok(());
                }
                let fires_ms = pace.fires_ms(&row);
                if fires_ms > now {
                    look.next_ms = look.next_ms.min(fires_ms);
                    continue;
                }
                let place = place(&row);
                match firing.get_mut(&place) {
                    Some(firing) => firing.has_more |= !firing.rows.contains(&row_id(&row)),
                    None => look.add(place, row),
                }
            }
            drop(firing);
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(());
            }
        }
        look.next_ms = look.next_ms.min(now + AGAIN_MS);
        Ok(())
    }

    fn fire(&self, place: Place, due: Due, turn: usize) {
        let Some(runtime) = self.nodes.get(turn % self.nodes.len().max(1)).cloned() else {
            return;
        };
        let rows = due.rows.iter().map(row_id).collect();
        let has_more = due.has_more;
        lock(&self.firing).insert(place.clone(), Firing { rows, has_more });
        let (firing, failures) = (Arc::clone(&self.firing), Arc::clone(&self.failures));
        let (scheduler, clock) = (self.scheduler.clone(), Arc::clone(&self.clock));
        self.background.spawn(Box::pin(async move {
            let is_done = fire(&runtime, &scheduler, &failures, due.rows).await;
            if !is_done {
                clock.sleep(REFUSED_MS).await;
            }
            let (left, has_more) = {
                let mut firing = lock(&firing);
                let fired = firing.remove(&place);
                (firing.len(), fired.is_some_and(|fired| fired.has_more))
            };
            // Half of the places are free again, or this one wants another look.
            if left == FIRING_MAX / 2 || has_more || !is_done {
                scheduler.alarm().due(clock.now().0);
            }
        }));
    }
}

impl Look {
    fn add(&mut self, place: Place, row: Row) {
        if !self.timers.contains_key(&place) {
            // More could not fire now anyway, and memory has a bound.
            if self.timers.len() >= 2 * FIRING_MAX {
                return;
            }
            let tenant = self.due.entry(place.0.clone()).or_default();
            tenant.push_back(place.clone());
        }
        let due = self.timers.entry(place).or_default();
        if due.rows.len() < TOGETHER_MAX {
            due.rows.push(row);
        } else {
            due.has_more = true;
        }
    }

    /// The next place: one of each tenant in turn.
    fn next_turn(&mut self) -> Option<Place> {
        let (tenant, mut places) = self.due.pop_first()?;
        let next = places.pop_front();
        if !places.is_empty() {
            // It comes again after all others: a name that sorts behind them.
            let round = tenant.chars().take_while(|c| *c == '\u{7f}').count() + 1;
            let name = tenant.trim_start_matches('\u{7f}');
            self.due
                .insert(format!("{}{name}", "\u{7f}".repeat(round)), places);
        }
        next
    }
}

/// What tells the row of a timer from others.
fn row_id(row: &Row) -> (String, i64) {
    (row.id.clone(), row.due_ms)
}

/// Which timers fire together: those whose ids differ in their last two parts only.
fn place(row: &Row) -> Place {
    let whole = row.id.rsplitn(3, '/').nth(2).unwrap_or(&row.id);
    (row.tenant.as_str().to_owned(), whole.to_owned())
}

/// A thread that died holding the lock has left whole entries only.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use dormouse_store::Tenant;

    use super::*;

    fn row(tenant: &str, id: &str, due_ms: i64) -> Row {
        Row {
            tenant: Tenant::new(tenant).unwrap(),
            id: id.into(),
            due_ms,
            body: Bytes::new(),
        }
    }

    #[test]
    fn tenants_take_turns_and_an_instance_has_one_place() {
        let mut look = Look {
            next_ms: i64::MAX,
            due: BTreeMap::new(),
            timers: BTreeMap::new(),
        };
        for n in 0..TOGETHER_MAX + 1 {
            let row = row("big", &format!("i/b{n}/1"), 1);
            look.add(place(&row), row);
        }
        for (tenant, id) in [("big", "j/b/1"), ("big", "k/b/1"), ("small", "x/b/1")] {
            let row = row(tenant, id, 2);
            look.add(place(&row), row);
        }
        let first = &look.timers[&("big".to_owned(), "i".to_owned())];
        assert_eq!((first.rows.len(), first.has_more), (TOGETHER_MAX, true));
        let mut order = Vec::new();
        while let Some((tenant, id)) = look.next_turn() {
            order.push(format!("{tenant}/{id}"));
        }
        assert_eq!(order, ["big/i", "small/x", "big/j", "big/k"]);
    }
}
