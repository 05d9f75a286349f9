//! What is sent, and what counts as taken. What is not taken stays in the outbox and comes again under the same id; in
//! the end it is a dead letter.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_identity::webhook;
use dormouse_runtime::port::{Bus, Clock, HttpCaller, LifecycleEvent, PortError, TaskRequest};
use serde::Serialize;
use serde_json::json;

use crate::webhook::Webhook;

/// How long the receiver may take, in ms. A sweep waits for it too, so it is short.
pub const ANSWER_MS: u64 = 5_000;

/// What a task request is called, as in Elsa.
const RUN_TASK: &str = "RunTask";

/// The address as the bus port.
pub struct WebhookBus {
    webhook: Webhook,
    caller: Arc<dyn HttpCaller>,
    clock: Arc<dyn Clock>,
}

/// Why an event was not taken.
#[derive(Debug)]
struct NotTaken(String);

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the webhook was not taken: {}", self.0)
    }
}

impl std::error::Error for NotTaken {}

impl WebhookBus {
    /// An address, what makes requests to it, and what says when they are made.
    #[must_use]
    pub fn new(webhook: Webhook, caller: Arc<dyn HttpCaller>, clock: Arc<dyn Clock>) -> Self {
        Self {
            webhook,
            caller,
            clock,
        }
    }

    /// Sends an event: taken is what is answered with 2xx.
    async fn send(&self, id: &str, kind: &str, data: &impl Serialize) -> Result<(), PortError> {
        // The same bytes each time; only the time of sending is another.
        let body = serde_json::to_vec(&json!({ "type": kind, "data": data }))?;
        let now_s = self.clock.now().0 / 1_000;
        let signature = webhook::sign(&self.webhook.secret, id, now_s, &body);
        let header = |name: &str, value: String| (name.to_owned(), value);
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: self.webhook.url.clone(),
            headers: vec![
                header("content-type", "application/json".to_owned()),
                header("webhook-id", id.to_owned()),
                header("webhook-timestamp", now_s.to_string()),
                header("webhook-signature", signature.unwrap_or_default()),
            ],
            body: Some(body),
            idempotency_key: id.to_owned(),
            ..HttpRequest::default()
        };
        let why = match self.caller.call(&request, ANSWER_MS).await {
            Answer::Http { status, .. } if (200..300).contains(&status) => return Ok(()),
            Answer::Http { status, .. } => format!("it was answered with {status}"),
            Answer::FailedToConnect { message }
            | Answer::Refused { message }
            | Answer::NotStarted { message } => message,
            Answer::TimedOut => "there was no answer in time".to_owned(),
            Answer::Executed { .. } | Answer::Found => "the answer is not one of HTTP".to_owned(),
        };
        tracing::warn!(id, why, "a webhook was not taken");
        Err(NotTaken(why).into())
    }
}

#[async_trait]
impl Bus for WebhookBus {
    async fn request_task(&self, request: &TaskRequest) -> Result<(), PortError> {
        self.send(&request.id, RUN_TASK, request).await
    }

    fn hears_lifecycle(&self) -> bool {
        self.webhook.hears_lifecycle
    }

    async fn tell(&self, event: &LifecycleEvent) -> Result<(), PortError> {
        self.send(&event.id, event.kind.as_str(), event).await
    }
}
