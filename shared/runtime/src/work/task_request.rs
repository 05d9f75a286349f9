//! Tasks for outside workers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A task that an outside worker is asked to do (Elsa's RunTask). Whoever has done it calls
/// [`crate::Instances::complete_task`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRequest {
    /// The same for every delivery of this request.
    pub id: String,
    /// The tenant.
    pub tenant_id: String,
    /// The instance that waits.
    pub workflow_instance_id: String,
    /// Its definition.
    pub workflow_definition_id: String,
    /// Its name.
    pub workflow_name: Option<String>,
    /// Its correlation id.
    pub correlation_id: Option<String>,
    /// What the worker names when it is done.
    pub task_id: String,
    /// What to do.
    pub task_name: String,
    /// With what.
    pub task_payload: Value,
}
