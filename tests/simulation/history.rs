//! The part of the model that is about time: which version a start may find, and when a definition starts itself.

use std::collections::BTreeSet;

use super::inspector::Found;
use super::ledger::Recurring;
use super::model::Model;
use super::plan::Overlap;

/// An occurrence that is later than this was missed, in ms: the runtime's own rule.
const MISSED_MS: i64 = 60_000;

impl Model<'_> {
    /// After a change is acknowledged, no start finds what was in force before it; before it is begun, none finds
    /// what is in force after it.
    pub(crate) fn versions(&self) -> Vec<String> {
        let changes = &self.ledger.changes;
        let mut wrong = Vec::new();
        for start in &self.ledger.starts {
            // Version 1 was in force from the beginning.
            let mut allowed = BTreeSet::new();
            let first_end = changes.first().map_or(u64::MAX, |change| change.ended);
            if start.began < first_end {
                allowed.insert(1);
            }
            for (place, change) in changes.iter().enumerate() {
                let until = changes.get(place + 1).map_or(u64::MAX, |next| next.ended);
                if start.began < until && change.began < start.ended {
                    allowed.insert(change.version);
                }
            }
            if !allowed.contains(&start.version) {
                let version = start.version;
                wrong.push(format!(
                    "a start found version {version} and not one of {allowed:?}"
                ));
            }
        }
        wrong
    }

    /// A definition that starts itself does so once for each time that is due.
    pub(crate) fn recurring(&self) -> Vec<String> {
        self.ledger
            .recurring
            .iter()
            .flat_map(|recurring| {
                let of = self.left.instances.iter();
                let found = of
                    .filter(|found| found.definition == recurring.definition)
                    .collect();
                let wrong = self.occurrences(recurring, found);
                wrong
                    .into_iter()
                    .map(|what| format!("`{}`: {what}", recurring.definition))
            })
            .collect()
    }

    fn occurrences(&self, recurring: &Recurring, found: Vec<&Found>) -> Vec<String> {
        let skew = self.plan.faults.skew_ms;
        let interval = recurring.interval_ms;
        let mut wrong = Vec::new();
        let span = recurring.retracted.1 - recurring.published.0 + 2 * skew;
        let most = span / interval + span / 60_000 + 3;
        if i64::try_from(found.len()).unwrap_or(i64::MAX) > most {
            wrong.push(format!("{} occurrences in {span} ms", found.len()));
        }
        if recurring.is_cron {
            return wrong;
        }
        let mut times: Vec<(i64, i64)> = Vec::new();
        for found in found {
            match found
                .input
                .get("StartAt")
                .and_then(|at| millis(at.as_str()?))
            {
                Some(nominal) => times.push((nominal, found.created_ms)),
                None => wrong.push(format!("{} does not say when it was due", found.id)),
            }
        }
        times.sort_unstable();
        for (nominal, created) in &times {
            if created - nominal < -skew {
                wrong.push(format!("one that was due at {nominal} began at {created}"));
            }
        }
        for pair in times.windows(2) {
            let ((before, _), (after, _)) = (pair[0], pair[1]);
            if before == after || (after - before) % interval != 0 {
                wrong.push(format!("occurrences of {before} and {after}"));
            }
            let next = before + interval;
            let is_missed = self.is_missed(recurring, next);
            if after != next && !is_missed && recurring.overlap == Overlap::Allow {
                wrong.push(format!("what was due at {next} is left out before {after}"));
            }
        }
        wrong.extend(self.all_came(recurring, &times));
        wrong
    }

    /// Whether an occurrence may be left out: it, or one before it, was fired so late that only the latest counts, or
    /// it was still being fired when its trigger was taken back.
    fn is_missed(&self, recurring: &Recurring, nominal: i64) -> bool {
        let skew = self.plan.faults.skew_ms;
        self.fired.iter().any(|(definition, due, at)| {
            let is_late =
                *due <= nominal && at - due > MISSED_MS - 2 * skew && at + 2 * skew > nominal;
            let is_taken_back = *due == nominal && *at >= recurring.retracted.0;
            *definition == recurring.definition && (is_late || is_taken_back)
        })
    }

    /// Where nothing goes wrong, everything that was due came.
    fn all_came(&self, recurring: &Recurring, times: &[(i64, i64)]) -> Option<String> {
        let is_held_up = self.plan.backlog_s > 0 || self.plan.has_pause();
        if !self.plan.faults.is_gentle() || is_held_up || recurring.overlap != Overlap::Allow {
            return None;
        }
        let skew = self.plan.faults.skew_ms;
        let last = times.last().map_or(recurring.published.1, |(at, _)| *at);
        let is_short = last + recurring.interval_ms < recurring.retracted.0 - skew - 20_000;
        is_short.then(|| format!("nothing came after {last}"))
    }
}

/// The milliseconds of a time as instances show it.
fn millis(text: &str) -> Option<i64> {
    dormouse_engine::time::Timestamp::parse(text).map(|at| at.0)
}
