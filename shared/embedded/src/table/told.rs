//! What the log was told of damaged items. Sweeps and timers come across the same ones every second, so each is told
//! once an hour.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dormouse_store::table::Key;

/// Time until the same item is told again.
const PAUSE: Duration = Duration::from_secs(3_600);

/// So many items are remembered. Beyond that none is told: `dormouse doctor` names them all.
const REMEMBERED_MAX: usize = 1_000;

/// When each damaged item was last told.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<BTreeMap<Key, Instant>>);

impl Told {
    /// Tells the log of an item, unless it was told lately.
    pub(super) fn damaged(&self, key: &Key) {
        if self.is_due(key, Instant::now()) {
            tracing::error!(
                partition = key.partition,
                sort = key.sort,
                "a damaged item is left where it is, and out of lists; `dormouse doctor` names all of them"
            );
        }
    }

    fn is_due(&self, key: &Key, now: Instant) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |at: &Instant| now.saturating_duration_since(*at) < PAUSE;
        if told.get(key).is_some_and(is_recent) {
            return false;
        }
        if told.len() >= REMEMBERED_MAX {
            told.retain(|_, at| is_recent(at));
        }
        if told.len() >= REMEMBERED_MAX {
            return false;
        }
        told.insert(key.clone(), now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_damaged_item_is_told_once_an_hour_and_a_bounded_number_of_them() {
        let told = Told::default();
        let now = Instant::now();
        let key = |number: usize| Key::new("p", number.to_string());
        let count = |now| (0..2_000).filter(|n| told.is_due(&key(*n), now)).count();
        assert_eq!(count(now), REMEMBERED_MAX);
        assert_eq!(count(now + PAUSE / 2), 0);
        assert_eq!(count(now + PAUSE), REMEMBERED_MAX);
        assert!(!told.is_due(&key(0), now + PAUSE));
    }
}
