//! How a process looks after the timers of its table: alone with it, or beside others.
//!
//! Beside others every process sees every timer, and the first to commit takes it out of the table; the others would
//! be told that it is gone, and pay for asking. So a process fires at once what it set itself, and lets others have a
//! moment first with theirs.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_runtime::Timer;
use dormouse_store::stimulus::timer::Timer as Row;

/// Which timer: when it is due, whose it is, its id.
pub(crate) type TimerKey = (i64, String, String);

/// Alone: how long to sleep at most, in ms. The system's clock may be set forward meanwhile, or the machine itself may
/// have slept; what became due by that is late by so much.
const ALONE_SLEEP_MS: i64 = 5_000;

/// Alone: how far ahead to look, in ms: a hundred years.
const ALONE_HORIZON_MS: i64 = 100 * 365 * 24 * 3_600_000;

/// Beside others: how long to sleep at most and how far ahead to look, in ms. What is set by a process that dies
/// before it is due is late by this at most. Nothing being due, a look is one query of no items: one read unit.
const SHARED_SLEEP_MS: i64 = 5_000;

/// Beside others: the shortest pause between two looks, in ms, for each reads what is due soon.
const SHARED_REST_MS: i64 = 25;

/// Beside others: how long after its time a timer of somebody else is fired at the earliest, in ms, and how much later
/// at most. Longer than the firing itself takes.
const OTHERS_MS: (i64, u64) = (250, 500);

/// The most of its own timers that a process remembers: the soonest.
const OWN_MAX: usize = 100_000;

/// How long after its time a timer is remembered as one's own, in ms. Beyond it others have fired it.
const OWN_MS: i64 = 60_000;

/// How a process looks after the timers of its table.
#[derive(Debug)]
pub(crate) enum Pace {
    Alone,
    Shared {
        /// Another one in each process, so that they are late by different times.
        seed: u64,
        own: Mutex<BTreeSet<TimerKey>>,
    },
}

impl Pace {
    pub(crate) fn shared(seed: u64) -> Self {
        Self::Shared {
            seed,
            own: Mutex::default(),
        }
    }

    /// How long to sleep at most, in ms.
    pub(crate) fn sleep_ms_max(&self) -> i64 {
        match self {
            Self::Alone => ALONE_SLEEP_MS,
            Self::Shared { .. } => SHARED_SLEEP_MS,
        }
    }

    /// How long to sleep at least, in ms.
    pub(crate) fn sleep_ms_min(&self) -> i64 {
        match self {
            Self::Alone => 0,
            Self::Shared { .. } => SHARED_REST_MS,
        }
    }

    /// How far ahead to look, in ms.
    pub(crate) fn horizon_ms(&self) -> i64 {
        match self {
            Self::Alone => ALONE_HORIZON_MS,
            Self::Shared { .. } => SHARED_SLEEP_MS,
        }
    }

    /// This process has set a timer.
    pub(crate) fn set(&self, timer: &Timer) {
        if let Self::Shared { own, .. } = self {
            let mut own = lock(own);
            own.insert((timer.due.0, timer.tenant.as_str().to_owned(), timer.id()));
            if own.len() > OWN_MAX {
                own.pop_last();
            }
        }
    }

    /// Forgets those of its own timers that are long over.
    pub(crate) fn tidy(&self, now_ms: i64) {
        if let Self::Shared { own, .. } = self {
            let mut own = lock(own);
            *own = own.split_off(&(now_ms - OWN_MS, String::new(), String::new()));
        }
    }

    /// When this process fires a timer, in ms since 1970.
    pub(crate) fn fires_ms(&self, row: &Row) -> i64 {
        let Self::Shared { seed, own } = self else {
            return row.due_ms;
        };
        let key = key(row);
        if lock(own).contains(&key) {
            return row.due_ms;
        }
        let mut hasher = DefaultHasher::new();
        (seed, &key).hash(&mut hasher);
        let (first, spread) = OTHERS_MS;
        let more = i64::try_from(hasher.finish() % spread).unwrap_or_default();
        row.due_ms.saturating_add(first + more)
    }
}

pub(crate) fn key(row: &Row) -> TimerKey {
    (row.due_ms, row.tenant.as_str().to_owned(), row.id.clone())
}

/// A thread that died holding the lock has left whole entries only.
fn lock(own: &Mutex<BTreeSet<TimerKey>>) -> MutexGuard<'_, BTreeSet<TimerKey>> {
    own.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use dormouse_engine::id::{BookmarkId, InstanceId};
    use dormouse_engine::time::Timestamp;
    use dormouse_runtime::{Tenant, Wakes};

    use super::*;

    fn timer(due_ms: i64) -> (Timer, Row) {
        let timer = Timer {
            tenant: Tenant::default(),
            due: Timestamp(due_ms),
            wakes: Wakes::Bookmark {
                instance: InstanceId::from("i"),
                bookmark: BookmarkId::from("b"),
                stamp: None,
            },
        };
        let row = Row {
            tenant: timer.tenant.clone(),
            id: timer.id(),
            due_ms,
            body: Vec::new().into(),
        };
        (timer, row)
    }

    #[test]
    fn a_process_fires_its_own_timers_at_once_and_those_of_others_a_moment_later() {
        let (timer, row) = timer(1_000);
        assert_eq!(Pace::Alone.fires_ms(&row), 1_000);
        let seeds = 0..50;
        let times: BTreeSet<i64> = seeds.map(|s| Pace::shared(s).fires_ms(&row)).collect();
        assert!(times.iter().all(|at| (1_250..1_750).contains(at)));
        assert!(times.len() > 25, "they come at different times: {times:?}");

        let pace = Pace::shared(7);
        pace.set(&timer);
        assert_eq!(pace.fires_ms(&row), 1_000);
        pace.tidy(1_000 + OWN_MS);
        assert_eq!(pace.fires_ms(&row), 1_000);
        pace.tidy(1_001 + OWN_MS);
        assert!(pace.fires_ms(&row) > 1_000);
    }

    #[test]
    fn of_too_many_own_timers_the_soonest_are_remembered() {
        let pace = Pace::shared(1);
        for due_ms in 0..=i64::try_from(OWN_MAX).unwrap() {
            pace.set(&timer(due_ms).0);
        }
        assert_eq!(pace.fires_ms(&timer(0).1), 0);
        let last = i64::try_from(OWN_MAX).unwrap();
        assert!(pace.fires_ms(&timer(last).1) > last);
    }
}
