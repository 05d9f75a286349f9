//! What the world outside hears of.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LifecycleEvent, PortError};

/// A task that an outside worker is asked to do (Elsa's RunTask). Whoever has done it calls
/// [`crate::Runtime::complete_task`].
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

/// Tells the world outside.
#[async_trait]
pub trait Bus: Send + Sync + 'static {
    /// Asks for a task to be done. When it returns, the request outlives this process.
    async fn request_task(&self, request: &TaskRequest) -> Result<(), PortError>;

    /// Whether it wants to hear of instances that start, suspend and end. Each such commit then has a row in the
    /// outbox, which costs a second write.
    fn hears_lifecycle(&self) -> bool {
        false
    }

    /// Tells what happened to an instance, at least once. When it returns, the event outlives this process.
    async fn tell(&self, event: &LifecycleEvent) -> Result<(), PortError> {
        let _ = event;
        Ok(())
    }
}
