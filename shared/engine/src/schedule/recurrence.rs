//! When a trigger fires by itself, and what happened while nobody looked.
//!
//! Two choices belong to whoever fires occurrences, and are set per activity in `customProperties`:
//! `overlapPolicy`, what an occurrence does while an earlier one's instance still runs: `allow` (the default, as in
//! Elsa), `skip`, `bufferOne`, `cancelPrevious`. And catching up after downtime: the latest missed occurrence fires
//! once ([`Recurrence::latest`]), the ones before it never do, and the rhythm goes on as if nothing had been.

use serde::{Deserialize, Serialize};

use super::cron::Cron;
use super::zone::zone;
use crate::time::Timestamp;

/// The shortest interval of a trigger, milliseconds. Shorter ones are taken as this.
pub const INTERVAL_MS_MIN: i64 = 1_000;

/// When a trigger fires by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Recurrence {
    /// Once.
    At {
        /// When.
        at: Timestamp,
    },
    /// Again and again after a length of time.
    Every {
        /// Milliseconds, at least [`INTERVAL_MS_MIN`].
        interval_ms: i64,
    },
    /// By a cron expression.
    Cron {
        /// Six fields, seconds first; five are taken as starting with minutes.
        expression: String,
        /// An IANA zone; `UTC` unless the activity names one.
        zone: String,
    },
}

impl Recurrence {
    /// The first occurrence of a trigger that begins at `now`. One that has an instant of its own fires even if that
    /// is past, as a catch-up, as in Elsa.
    #[must_use]
    pub fn first(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::At { at } => Some(*at),
            Self::Every { .. } | Self::Cron { .. } => self.next(now),
        }
    }

    /// The first occurrence strictly after `after`, which is the nominal time of the one before, not when that came
    /// to be fired. `None`: there is none any more.
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match self {
            Self::At { at } => (*at > after).then_some(*at),
            Self::Every { interval_ms } => Some(after.plus_ms((*interval_ms).max(INTERVAL_MS_MIN))),
            Self::Cron {
                expression,
                zone: name,
            } => Cron::parse(expression).ok()?.next(after, &zone(name).ok()?),
        }
    }

    /// The last occurrence after `after` and up to `until`, counted from the nominal time `after`. `None`: there was
    /// none.
    #[must_use]
    pub fn latest(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        let first = self.next(after).filter(|first| *first <= until)?;
        if let Self::Every { interval_ms } = self {
            let interval = (*interval_ms).max(INTERVAL_MS_MIN);
            return Some(first.plus_ms((until.0 - first.0) / interval * interval));
        }
        // Halve the time in which the last one must lie, so that a long time of many occurrences costs little.
        let (mut found, mut end) = (first, until);
        while found < end {
            let middle = Timestamp(found.0 + (end.0 - found.0) / 2);
            match self.next(middle).filter(|late| *late <= until) {
                Some(later) => found = later,
                None => end = middle,
            }
        }
        Some(found)
    }

    /// The first occurrence after `now`, in the rhythm of one at `nominal`, which lies later. `None`: `nominal` is it, or
    /// it does not recur.
    #[must_use]
    pub fn soonest(&self, nominal: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let soonest = match self {
            Self::At { .. } => return None,
            Self::Every { interval_ms } => {
                let interval = (*interval_ms).max(INTERVAL_MS_MIN);
                nominal.plus_ms(-((nominal.0 - now.0 - 1) / interval * interval))
            }
            Self::Cron { .. } => self.next(now)?,
        };
        (now < soonest && soonest < nominal).then_some(soonest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn cron(expression: &str, zone: &str) -> Recurrence {
        Recurrence::Cron {
            expression: expression.into(),
            zone: zone.into(),
        }
    }

    #[test]
    fn an_instant_fires_once_even_if_it_is_past() {
        let once = Recurrence::At {
            at: at("2026-01-01T00:00:00Z"),
        };
        assert_eq!(
            once.first(at("2026-06-01T00:00:00Z")),
            Some(at("2026-01-01T00:00:00Z"))
        );
        assert_eq!(once.next(at("2026-01-01T00:00:00Z")), None);
        assert_eq!(
            once.next(at("2025-01-01T00:00:00Z")),
            Some(at("2026-01-01T00:00:00Z"))
        );
    }

    #[test]
    fn an_interval_counts_from_the_nominal_time() {
        let every = Recurrence::Every {
            interval_ms: 60_000,
        };
        assert_eq!(
            every.next(at("2026-01-01T00:00:00Z")),
            Some(at("2026-01-01T00:01:00Z"))
        );
        let too_short = Recurrence::Every { interval_ms: 0 };
        assert_eq!(too_short.next(Timestamp(0)), Some(Timestamp(1_000)));
    }

    #[test]
    fn the_soonest_occurrence_keeps_the_rhythm() {
        let now = at("2026-01-01T00:00:10Z");
        let every = Recurrence::Every {
            interval_ms: 60_000,
        };
        let far = at("2026-01-01T05:00:30Z");
        let soonest = at("2026-01-01T00:00:30Z");
        assert_eq!(every.soonest(far, now), Some(soonest));
        assert_eq!(every.soonest(soonest, now), None);
        assert_eq!(every.soonest(now, now), None);
        let exact = now.plus_ms(120_000);
        assert_eq!(every.soonest(exact, now), Some(now.plus_ms(60_000)));
        let cron = cron("0 0 * * * *", "UTC");
        let hour = at("2026-01-01T01:00:00Z");
        assert_eq!(cron.soonest(at("2027-01-01T00:00:00Z"), now), Some(hour));
        assert_eq!(cron.soonest(hour, now), None);
        assert_eq!(Recurrence::At { at: far }.soonest(far, now), None);
    }

    #[test]
    fn after_downtime_the_latest_occurrence_is_found() {
        let every = Recurrence::Every {
            interval_ms: 60_000,
        };
        let (from, until) = (at("2026-01-01T00:00:30Z"), at("2026-01-09T12:00:00Z"));
        assert_eq!(every.latest(from, until), Some(at("2026-01-09T11:59:30Z")));
        let daily = cron("0 0 9 * * *", "Europe/Amsterdam");
        assert_eq!(daily.latest(from, until), Some(at("2026-01-09T08:00:00Z")));
        let each_second = cron("* * * * * *", "");
        assert_eq!(each_second.latest(from, until), Some(until));
        let yearly = cron("0 0 0 1 1 *", "UTC");
        assert_eq!(yearly.latest(from, until), None);
        assert_eq!(
            yearly.latest(at("2020-06-01T00:00:00Z"), until),
            Some(at("2026-01-01T00:00:00Z"))
        );
    }

    #[test]
    fn the_stored_form_stays() {
        let stored = serde_json::to_value(cron("0 * * * * *", "UTC")).unwrap();
        let expected =
            serde_json::json!({ "kind": "cron", "expression": "0 * * * * *", "zone": "UTC" });
        assert_eq!(stored, expected);
        let every = serde_json::to_value(Recurrence::Every { interval_ms: 5 }).unwrap();
        assert_eq!(
            every,
            serde_json::json!({ "kind": "every", "intervalMs": 5 })
        );
    }
}
