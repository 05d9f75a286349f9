//! Activity execution records: what a journal says of each execution, folded.

use dormouse_engine::time::Timestamp;
use serde_json::Value;

/// How an execution of an activity stands. Elsa's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivityStatus {
    /// It has begun, and runs or waits.
    Running,
    /// It ended.
    Completed,
    /// It was cancelled.
    Canceled,
    /// It failed.
    Faulted,
    /// It may not run yet.
    Pending,
}

impl ActivityStatus {
    /// Elsa's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Completed => "Completed",
            Self::Canceled => "Canceled",
            Self::Faulted => "Faulted",
            Self::Pending => "Pending",
        }
    }
}

/// One execution of one activity.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityExecution {
    /// Its id.
    pub id: String,
    /// The activity's id.
    pub activity_id: String,
    /// Its place.
    pub activity_node_id: String,
    /// Its type.
    pub activity_type: String,
    /// The type's version.
    pub activity_type_version: u32,
    /// Its name.
    pub activity_name: Option<String>,
    /// The values of its inputs, by property name.
    pub activity_state: Value,
    /// Its outcomes.
    pub outcomes: Vec<String>,
    /// Its outputs, by name.
    pub outputs: Value,
    /// Why it failed.
    pub exception: Value,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Whether it has waited.
    pub has_bookmarks: bool,
    /// How it stands.
    pub status: ActivityStatus,
    /// How many executions in it have failed, itself included.
    pub aggregate_fault_count: u32,
    /// The execution that scheduled it.
    pub scheduled_by: Option<String>,
}
