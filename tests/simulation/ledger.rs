//! What people asked for and what they were told: all that the model may hold the system to.

use std::collections::BTreeMap;

use super::plan::{End, Overlap};

/// Everything that anybody was told.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Instances that were started, by instance id.
    pub(crate) runs: BTreeMap<String, Run>,
    /// Events that were acknowledged and nothing waits for, by id.
    pub(crate) orphans: Vec<String>,
    /// Events that start instances, by their ids.
    pub(crate) triggers: Vec<String>,
    /// Starts of the definition that changes.
    pub(crate) starts: Vec<Started>,
    /// Changes of the definition that changes, in order.
    pub(crate) changes: Vec<Change>,
    /// Instances and the event that each of them was sent.
    pub(crate) addressed: Vec<(String, String)>,
    /// Instances that set many timers at once, and how many.
    pub(crate) piles: Vec<(String, u32)>,
    /// Pauses: when one was acknowledged, and when its end was asked for. True times, in ms.
    pub(crate) pauses: Vec<(i64, i64)>,
    /// Definitions that started themselves.
    pub(crate) recurring: Vec<Recurring>,
}

/// An acknowledged start.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// The workflow.
    pub(crate) recipe: String,
    /// The person's key.
    pub(crate) key: String,
    /// What was acknowledged besides.
    pub(crate) end: End,
}

/// A start of the definition that changes: between which ticks, and which version it found (0: none).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Started {
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) version: u32,
}

/// A change of the definition that changes: between which ticks, and the version in force after it (0: none).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) version: u32,
}

/// A definition that started itself from its publication to its retraction. All times are true ones, in ms.
#[derive(Debug, Clone)]
pub(crate) struct Recurring {
    pub(crate) definition: String,
    pub(crate) interval_ms: i64,
    pub(crate) overlap: Overlap,
    pub(crate) is_cron: bool,
    /// When its publication was begun, and acknowledged.
    pub(crate) published: (i64, i64),
    /// When its retraction was begun, and acknowledged.
    pub(crate) retracted: (i64, i64),
}
