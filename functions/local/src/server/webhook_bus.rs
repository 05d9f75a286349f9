//! The bus port as a webhook: task requests and lifecycle events as requests to one address, signed as "Standard Webhooks"
//! has it. One that is not taken stays in the outbox and comes again under the same id; in the end it is a dead letter.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_identity::webhook;
use dormouse_runtime::port::{Bus, Clock, HttpCaller, LifecycleEvent, PortError, TaskRequest};
use serde::Serialize;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;

/// How long the receiver may take, in ms. A sweep waits for it too, so it is short.
const ANSWER_MS: u64 = 5_000;

/// What a task request is called, as in Elsa.
const RUN_TASK: &str = "RunTask";

/// Where events go, as the command line says it.
#[derive(Debug, clap::Args)]
pub(crate) struct WebhookArgs {
    /// Where task requests go, as signed webhooks
    #[arg(long, value_name = "URL", env = "DORMOUSE_WEBHOOK_URL")]
    webhook_url: Option<String>,
    /// What webhooks are signed with: `whsec_` and 24 to 64 bytes in base64
    #[arg(
        long,
        value_name = "SECRET",
        env = "DORMOUSE_WEBHOOK_SECRET",
        hide_env_values = true
    )]
    webhook_secret: Option<String>,
    /// Send webhooks too when instances start, suspend and end. Costs a second write for each
    #[arg(long, requires = "webhook_url")]
    webhook_lifecycle: bool,
}

impl WebhookArgs {
    /// The address, if there is one and it can be signed for.
    pub(crate) fn read(&self) -> Result<Option<Webhook>, Failure> {
        let Some(url) = self.webhook_url.clone().filter(|url| !url.is_empty()) else {
            return Ok(None);
        };
        let secret = self.webhook_secret.clone().unwrap_or_default();
        if webhook::sign(&secret, "", 0, b"").is_none() {
            let message = "webhooks are signed, and there is no secret to sign them with";
            return Err(
                Failure::new(Exit::BadInput, "badWebhookSecret", message).help(
                    "give one with --webhook-secret or DORMOUSE_WEBHOOK_SECRET: `whsec_` and 24 to 64 random bytes in base64",
                ),
            );
        }
        Ok(Some(Webhook {
            url,
            secret,
            hears_lifecycle: self.webhook_lifecycle,
        }))
    }
}

/// An address that takes events.
#[derive(Clone)]
pub(crate) struct Webhook {
    url: String,
    secret: String,
    hears_lifecycle: bool,
}

/// The address as the bus port.
pub(super) struct WebhookBus {
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
    pub(super) fn new(
        webhook: Webhook,
        caller: Arc<dyn HttpCaller>,
        clock: Arc<dyn Clock>,
    ) -> Self {
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
