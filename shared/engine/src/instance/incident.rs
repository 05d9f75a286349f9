//! A failure of a workflow, kept with the instance.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time::Timestamp;

/// What went wrong.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionState {
    /// The kind of failure.
    #[serde(rename = "type")]
    pub kind: String,
    /// What went wrong, in a sentence for the workflow's author.
    pub message: String,
    /// The script's stack, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,
    /// Facts to decide by: fault code, limit and the like.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// A failure of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Incident {
    /// The activity's id.
    pub activity_id: String,
    /// Its place.
    pub activity_node_id: String,
    /// Its execution.
    pub activity_instance_id: String,
    /// Its type.
    pub activity_type: String,
    /// What went wrong, in a sentence.
    pub message: String,
    /// The details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionState>,
    /// When.
    pub timestamp: Timestamp,
}
