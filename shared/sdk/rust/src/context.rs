//! A task as its handler sees it.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::client::Client;

/// A task as the server sends it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Names this attempt.
    pub task_id: String,
    /// The activity type.
    #[serde(rename = "type")]
    pub activity_type: String,
    /// The version of the type.
    #[serde(default)]
    pub version: u32,
    /// The number of the attempt, from 1.
    #[serde(default)]
    pub attempt: u32,
    /// The inputs by name.
    #[serde(default)]
    pub input: Value,
    /// When the attempt ends, in RFC 3339.
    #[serde(default)]
    pub deadline: Option<String>,
    /// How long the server waits for a heartbeat, in milliseconds.
    #[serde(default)]
    pub heartbeat_ms: Option<u64>,
    /// What the last heartbeat of an earlier attempt told.
    #[serde(default)]
    pub heartbeat_details: Value,
    /// The same for every attempt.
    #[serde(default)]
    pub idempotency_key: String,
    /// The workflow instance that it belongs to.
    #[serde(default)]
    pub workflow: Workflow,
}

/// The workflow instance that a task belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Workflow {
    /// The definition.
    pub definition_id: String,
    /// The instance.
    pub instance_id: String,
    /// The correlation id of the instance.
    pub correlation_id: Option<String>,
    /// The tenant.
    pub tenant_id: Option<String>,
}

/// The task is not this worker's any more: cancelled, timed out, or leased to another worker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the task {task_id} is not this worker's any more")]
pub struct TaskLost {
    /// The task.
    pub task_id: String,
}

/// What hears the heartbeats.
#[derive(Debug, Clone)]
pub(crate) enum Listener {
    /// Nobody: a function without a server's address.
    Nobody,
    Server(Client),
    /// A test, which loses the task after so many.
    Test {
        heard: Arc<Mutex<Vec<Value>>>,
        lost_after: usize,
    },
}

#[derive(Debug)]
struct Facts {
    task: Task,
    listener: Listener,
    lost: watch::Sender<bool>,
    stopping: watch::Sender<bool>,
}

/// The facts of a task beside its input, and its heartbeat. A clone is the same task.
#[derive(Debug, Clone)]
pub struct Context(Arc<Facts>);

impl Context {
    pub(crate) fn new(task: Task, listener: Listener) -> Self {
        Self(Arc::new(Facts {
            task,
            listener,
            lost: watch::Sender::new(false),
            stopping: watch::Sender::new(false),
        }))
    }

    /// The task as the server sent it.
    #[must_use]
    pub fn task(&self) -> &Task {
        &self.0.task
    }

    /// The same for every attempt: pass it to services that deduplicate.
    #[must_use]
    pub fn idempotency_key(&self) -> &str {
        &self.task().idempotency_key
    }

    /// What the last heartbeat of an earlier attempt told; null where there was none.
    #[must_use]
    pub fn heartbeat_details(&self) -> &Value {
        &self.task().heartbeat_details
    }

    /// Extends the lease and stores `details` for the next attempt; null leaves the earlier details. A server that cannot be
    /// reached is no error.
    ///
    /// # Errors
    ///
    /// [`TaskLost`]
    pub async fn heartbeat(&self, details: impl Serialize) -> Result<(), TaskLost> {
        let details = serde_json::to_value(details).unwrap_or(Value::Null);
        if !self.is_lost() {
            self.beat(details).await;
        }
        if self.is_lost() {
            return Err(TaskLost {
                task_id: self.task().task_id.clone(),
            });
        }
        Ok(())
    }

    /// Whether the task is not this worker's any more. The worker's own heartbeats find out.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        *self.0.lost.borrow()
    }

    /// Ends when the task is lost.
    pub async fn lost(&self) {
        let mut lost = self.0.lost.subscribe();
        // The sender lives as long as this context.
        let _closed = lost.wait_for(|is_lost| *is_lost).await;
    }

    /// Whether the worker was asked to stop. The handler has the grace time to finish.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        *self.0.stopping.borrow()
    }

    /// Ends when the worker was asked to stop.
    pub async fn stopping(&self) {
        let mut stopping = self.0.stopping.subscribe();
        let _closed = stopping.wait_for(|is_stopping| *is_stopping).await;
    }

    pub(crate) fn lose(&self) {
        self.0.lost.send_replace(true);
    }

    pub(crate) fn stop(&self) {
        self.0.stopping.send_replace(true);
    }

    /// Sends a heartbeat, and learns whether the task is lost.
    pub(crate) async fn beat(&self, details: Value) {
        match &self.0.listener {
            Listener::Nobody => {}
            Listener::Server(client) => {
                let id = &self.task().task_id;
                let body = json!({ "details": details });
                match client.tell(id, "heartbeat", &body).await {
                    Ok(_) => {}
                    Err(error) if error.is_gone() => self.lose(),
                    Err(error) => tracing::warn!(task = id, %error, "no heartbeat"),
                }
            }
            Listener::Test { heard, lost_after } => {
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                if heard.len() >= *lost_after {
                    self.lose();
                } else {
                    heard.push(details);
                }
            }
        }
    }
}
