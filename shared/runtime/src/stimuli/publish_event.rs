//! Publishing an event: accepted durably, then delivered to everybody who waits for it.

use dormouse_engine::activity::event::PAYLOAD;
use dormouse_store::Tenant;
use serde_json::{Map, Value};

use crate::error::RuntimeError;
use crate::stimuli::Stimuli;
use crate::work::message::{Message, Task};
use crate::work::stimulus::{StimulusOutcome, StimulusRequest, event_hash};

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
    /// How long it is queued if nothing waits for it, in ms; 0: not at all. `None`: the runtime's default.
    pub queued_ms: Option<i64>,
    /// Whether the caller waits until it is delivered.
    pub waits: bool,
    /// Whether a request waits for what the workflows answer, if the caller waits.
    pub has_http_request: bool,
}

/// What became of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventOutcome {
    /// The event's id.
    pub event_id: String,
    /// What it did, where the caller waited for it.
    pub delivered: Option<StimulusOutcome>,
}

impl Stimuli<'_> {
    /// The message of an event, and the stimulus in it.
    #[must_use]
    pub fn event_message(self, tenant: &Tenant, event: EventRequest) -> (Message, StimulusRequest) {
        let event_id = event.event_id.unwrap_or_else(|| self.new_id());
        let stimulus = StimulusRequest {
            id: event_id.clone(),
            hash: event_hash(&event.name),
            input: Map::from_iter([(PAYLOAD.to_owned(), event.payload)]),
            correlation_id: event.correlation_id.filter(|id| !id.is_empty()),
            instance_id: event.instance_id,
            bookmark_id: None,
            activity_instance_id: event.activity_instance_id,
            at: self.now(),
            queued_ms: event.queued_ms,
            has_http_request: event.waits && event.has_http_request,
        };
        let task = Task::Stimulate {
            stimulus: stimulus.clone(),
        };
        let message = self.message(tenant, format!("event/{event_id}"), task);
        (message, stimulus)
    }

    /// Publishes an event. When it returns, the event will be delivered whatever happens.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: the event was not accepted.
    pub async fn publish_event(
        self,
        tenant: &Tenant,
        event: EventRequest,
    ) -> Result<EventOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        let waits = event.waits;
        let (message, stimulus) = self.event_message(tenant, event);
        let event_id = stimulus.id.clone();
        if !waits {
            if !self.is_delivered_here(tenant, &stimulus).await {
                self.outbox().accept(message).await?;
            }
            return Ok(EventOutcome {
                event_id,
                delivered: None,
            });
        }
        let batch = self.outbox().accept_in_outbox(message).await?;
        // It is accepted: what fails from here on is delivered later, so it is no error for the sender.
        let delivered = match self.stimulate(tenant, &stimulus).await {
            Ok(outcome) => {
                if let Err(cause) = self.outbox().delete_rows(&batch.keys).await {
                    tracing::debug!(event_id, cause = %cause, "a delivered event stays in the outbox");
                }
                Some(outcome)
            }
            Err(cause) => {
                tracing::warn!(event_id, cause = %cause, "an event is delivered later");
                None
            }
        };
        Ok(EventOutcome {
            event_id,
            delivered,
        })
    }

    /// Delivers an event for one instance at once where a queue would bring it: three requests of a queue and an
    /// invocation cost more than the delivery. False: it is not delivered, and the queue is to have it.
    ///
    /// Nothing is acknowledged before this returns, so a crash in here loses nothing that was accepted.
    async fn is_delivered_here(self, tenant: &Tenant, stimulus: &StimulusRequest) -> bool {
        if stimulus.instance_id.is_none() || self.ports().queue.is_none() {
            return false;
        }
        match self.stimulate(tenant, stimulus).await {
            Ok(_) => true,
            Err(cause) => {
                tracing::debug!(event_id = stimulus.id, cause = %cause, "an event goes by message");
                false
            }
        }
    }
}
