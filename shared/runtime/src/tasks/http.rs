//! Handlers that are addresses: a request signed as "Standard Webhooks" has it, answered now (200) or later (202).

use dormouse_engine::activity_type::Failure;
use dormouse_engine::call::{Answer, HttpRequest};
use serde_json::Value;

use super::Tasks;
use super::perform::{Said, answer};

impl Tasks<'_> {
    /// Asks a handler.
    pub(super) async fn ask(self, url: &str, id: &str, body: &Value, timeout_ms: u64) -> Said {
        let Some(secret) = &self.config().signing_secret else {
            let message =
                "requests to handlers are signed, and this server has no secret to sign them with";
            return Said::failed(&Failure::new("HandlerNotAllowed", message).for_good());
        };
        let key = body.get("idempotencyKey").and_then(Value::as_str);
        let idempotency_key = key.unwrap_or(id).to_owned();
        let body = body.to_string().into_bytes();
        let now_s = self.now().0 / 1_000;
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: url.to_owned(),
            headers: vec![
                header("content-type", "application/json"),
                header("webhook-id", id),
                header("webhook-timestamp", &now_s.to_string()),
                header("webhook-signature", &secret.sign(id, now_s, &body)),
            ],
            body: Some(body),
            idempotency_key,
            ..HttpRequest::default()
        };
        match self.ports().http_caller.call(&request, timeout_ms).await {
            Answer::Http { status: 202, .. } => Said::Later,
            Answer::Http { status, body, .. } if (200..300).contains(&status) => answer(&body),
            Answer::Http { status, .. } => {
                let message = format!("the handler answered with the status {status}");
                let failure = Failure::new("HandlerFailed", message);
                Said::failed(&match status {
                    408 | 409 | 425 | 429 | 500..=599 => failure,
                    _ => failure.for_good(),
                })
            }
            Answer::FailedToConnect { message } => {
                Said::failed(&Failure::new("HandlerUnreachable", message))
            }
            Answer::TimedOut => {
                let message = format!("the handler did not answer within {timeout_ms} ms");
                Said::failed(&Failure::new("Timeout", message))
            }
            Answer::Refused { message } => {
                Said::failed(&Failure::new("HandlerRefused", message).for_good())
            }
            other @ (Answer::Executed { .. } | Answer::Found | Answer::NotStarted { .. }) => {
                let message = format!("the request was answered by {other:?}");
                Said::failed(&Failure::new("UnexpectedAnswer", message).for_good())
            }
        }
    }
}
