//! Publishing an event: accepted durably, then delivered to everybody who waits for it.

use dormouse_store::Tenant;
use serde_json::Value;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::stimulate::StimulusOutcome;

/// An event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventRequest {
    /// Its name.
    pub name: String,
    /// Its id: the same event published twice counts once. `None`: a new one.
    pub event_id: Option<String>,
    /// What came with it.
    pub payload: Value,
    /// Only instances with this correlation id, and the id of the ones it starts.
    pub correlation_id: Option<String>,
    /// Only this instance. Then it starts nothing.
    pub instance_id: Option<String>,
    /// Only this execution of an activity. Then it starts nothing.
    pub activity_instance_id: Option<String>,
    /// How long it is kept if nothing waits for it, in ms; 0: not at all. `None`: the runtime's default.
    pub kept_ms: Option<i64>,
    /// Whether the caller waits until it is delivered.
    pub waits: bool,
}

/// What became of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventOutcome {
    /// The event's id.
    pub event_id: String,
    /// What it did, where the caller waited for it.
    pub delivered: Option<StimulusOutcome>,
}

impl Runtime {
    /// Publishes an event. When it returns, the event will be delivered whatever happens.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: the event was not accepted.
    pub async fn publish_event(
        &self,
        tenant: &Tenant,
        event: EventRequest,
    ) -> Result<EventOutcome, RuntimeError> {
        let _ = (tenant, event);
        todo!()
    }
}
