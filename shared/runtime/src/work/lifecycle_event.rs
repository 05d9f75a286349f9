//! What is told of an instance's life.

use dormouse_engine::time::Timestamp;
use serde::{Deserialize, Serialize};

/// An instance has started, suspended or ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LifecycleEvent {
    /// The same for every delivery of this event.
    pub id: String,
    /// What happened.
    pub kind: LifecycleKind,
    /// When it was committed.
    pub at: Timestamp,
    /// The tenant.
    pub tenant_id: String,
    /// The instance.
    pub workflow_instance_id: String,
    /// Its definition.
    pub workflow_definition_id: String,
    /// The version of it.
    pub workflow_definition_version: u32,
    /// Its name.
    pub name: Option<String>,
    /// Its correlation id.
    pub correlation_id: Option<String>,
    /// How many incidents it has.
    pub incident_count: u32,
}

/// What happened to an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LifecycleKind {
    /// Its first commit.
    InstanceStarted,
    /// It waits.
    InstanceSuspended,
    /// It has ended as it was meant to.
    InstanceFinished,
    /// It has ended by a failure.
    InstanceFaulted,
    /// It was cancelled.
    InstanceCancelled,
}

impl LifecycleKind {
    /// The name, as events carry it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InstanceStarted => "InstanceStarted",
            Self::InstanceSuspended => "InstanceSuspended",
            Self::InstanceFinished => "InstanceFinished",
            Self::InstanceFaulted => "InstanceFaulted",
            Self::InstanceCancelled => "InstanceCancelled",
        }
    }
}
