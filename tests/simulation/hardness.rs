//! How hard the world is, in one place. A switch is off where today's product fails in the harder world; a plan may turn
//! single switches on, so that `found.rs` shows such a failure alone.

use serde::{Deserialize, Serialize};

/// Parts of the real world that a run contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Hard {
    /// The queue does not deduplicate the firings of recurring triggers, as SQS does not. Off: two messages for one
    /// occurrence are one while the first is on its way.
    pub(crate) occurrences: bool,
    /// Workers give up on a task after one request, so that the rows of a lost commit stay alone until the calm.
    pub(crate) impatient: bool,
    /// One event resumes all bookmarks of an instance that wait for it.
    pub(crate) same_event: bool,
    /// One use case reads at most [`ROWS_A_USE_CASE`] rows.
    pub(crate) pages: bool,
    /// An instance with many timers does not delay the timers of others.
    pub(crate) fairness: bool,
    /// Many children at once: none of their ends becomes a dead letter, and no use case delivers all of them inline.
    pub(crate) families: bool,
    /// One that failed, and of which one may run at a time, is retried next to another one.
    pub(crate) retried_alone: bool,
    /// An event for many is sent in a world that is paused meanwhile.
    pub(crate) paused_crowds: bool,
}

impl Hard {
    /// What every drawn plan contains. Turn a switch on when the product passes it; each has a plan in
    /// `found::CURED` that passes.
    pub(crate) const DRAWN: Self = Self {
        occurrences: true,
        impatient: true,
        same_event: true,
        pages: true,
        fairness: true,
        families: true,
        retried_alone: true,
        paused_crowds: true,
    };

    /// What drawn plans contain: [`Self::DRAWN`], and the switches that `DORMOUSE_HARD` names, such as
    /// `occurrences,pages`, or `all` of them.
    ///
    /// # Panics
    ///
    /// If there is no such switch.
    pub(crate) fn of_environment() -> Self {
        let names = std::env::var("DORMOUSE_HARD").unwrap_or_default();
        let mut hard = serde_json::to_value(Self::DRAWN).expect("plain switches");
        let switches = hard.as_object_mut().expect("named switches");
        for name in names.split(',').filter(|name| !name.is_empty()) {
            let mut is_known = false;
            for (switch, is_on) in switches.iter_mut() {
                if name == "all" || name == switch {
                    *is_on = true.into();
                    is_known = true;
                }
            }
            assert!(is_known, "DORMOUSE_HARD: there is no switch `{name}`");
        }
        serde_json::from_value(hard).expect("the switches as they were")
    }
}

/// Rows of the table that one use case may read: two pages of 100 and what belongs to them. Memory follows from it.
pub(crate) const ROWS_A_USE_CASE: u32 = 250;

/// Calls of the table that one use case may have under way at once.
pub(crate) const CALLS_AT_ONCE: u32 = 64;

/// Firings of one trigger that may be on their way at once, beside two for each of its occurrences; three times as many where
/// clocks differ. What multiplies without end is beyond that soon.
pub(crate) const FIRINGS_PENDING: usize = 16;

/// How late a timer may be where calls take less than 100 ms and nothing fails, in ms.
pub(crate) const LATE_MS_MAX: i64 = 10_000;

/// How long one handler is busy with one message there, in ms: four calls.
pub(crate) const MESSAGE_MS_MAX: i64 = 400;

/// How long after its due time a row may lie among the timers of the table in the calm, in ms: longer than the longest
/// burst and its lease.
pub(crate) const OVERDUE_MS_MAX: i64 = 1_800_000;
