//! Webhooks: made through the API; at their addresses, messages of others come in, signed as "Standard Webhooks" has it.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{delete, get, post};
use axum::{Json as Answer, Router};
use dormouse_engine::time::Timestamp;
use dormouse_identity::webhook::Signed;
use dormouse_runtime::Webhook;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::body::{Body, Json};
use crate::client_address::ClientAddress;
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// The longest name of an event, and the longest id of a message, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/webhooks", get(list).post(create))
        .route("/webhooks/{id}", delete(remove))
}

/// The route for those who send messages, relative to the root.
pub(crate) fn addresses() -> Router<App> {
    Router::new().route("/webhooks/{id}", post(receive))
}

/// What a webhook is to be.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WebhookRequest {
    event_name: String,
    /// Where in a message the correlation id is: a JSON pointer.
    correlation_pointer: Option<String>,
}

/// `GET /webhooks`
async fn list(Scoped(app): Scoped) -> Result<Answer<Value>, Refusal> {
    let found = app.runtime().webhooks().list(app.tenant()).await?;
    let items: Vec<Value> = found.iter().map(|w| model(w).into()).collect();
    let count = items.len();
    Ok(Answer(json!({ "items": items, "totalCount": count })))
}

/// `POST /webhooks`. The secret is told this once.
async fn create(
    Scoped(app): Scoped,
    Json(request): Json<WebhookRequest>,
) -> Result<(StatusCode, Answer<Value>), Refusal> {
    let wrong = |reason: &str| Refusal::WrongShape {
        reason: reason.to_owned(),
    };
    let event = request.event_name.trim().to_owned();
    if event.is_empty() || event.len() > NAME_BYTES_MAX {
        return Err(wrong("a webhook needs an `eventName` of at most 200 bytes"));
    }
    let pointer = request.correlation_pointer;
    let is_pointer = |text: &String| text.starts_with('/') && text.len() <= NAME_BYTES_MAX;
    if !pointer.as_ref().is_none_or(is_pointer) {
        return Err(wrong(
            "`correlationPointer` is a JSON pointer such as `/data/orderId`",
        ));
    }
    let made = app.runtime().webhooks().make(app.tenant(), event, pointer);
    let made = made.await?;
    let mut body = model(&made);
    body.insert("secret".to_owned(), made.secret.into());
    Ok((StatusCode::CREATED, Answer(body.into())))
}

/// `DELETE /webhooks/{id}`
async fn remove(Scoped(app): Scoped, Path(id): Path<String>) -> Result<StatusCode, Refusal> {
    match app.runtime().webhooks().delete(app.tenant(), &id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Refusal::NoSuchWebhook { id }),
    }
}

fn model(webhook: &Webhook) -> Map<String, Value> {
    let created = Timestamp(webhook.created_ms).to_string();
    Map::from_iter([
        ("id".to_owned(), json!(webhook.id)),
        ("eventName".to_owned(), json!(webhook.event)),
        ("correlationPointer".to_owned(), json!(webhook.correlation)),
        (
            "path".to_owned(),
            json!(format!("/webhooks/{}", webhook.id)),
        ),
        ("createdAt".to_owned(), json!(created)),
    ])
}

/// `POST /webhooks/{id}`, at the root. When it answers, the event is safe; a message that comes again counts once. Unknown
/// addresses, wrong signatures and old messages look the same.
async fn receive(
    State(app): State<App>,
    client: ClientAddress,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<(StatusCode, Answer<Value>), Refusal> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let signed = Signed {
        id: text("webhook-id").unwrap_or_default(),
        timestamp: text("webhook-timestamp").unwrap_or_default(),
        signatures: text("webhook-signature").unwrap_or_default(),
    };
    let has_id = !signed.id.is_empty() && signed.id.len() <= NAME_BYTES_MAX;
    let taken = match has_id {
        true => app.runtime().webhooks().receive(&id, signed, &body).await?,
        false => None,
    };
    match taken {
        Some(event) => Ok((StatusCode::ACCEPTED, Answer(json!({ "eventId": event })))),
        None => {
            // Only wrong ones are held up: a signature cannot be guessed, and a sender may share its address with others.
            match app.webhooks_limit().take(&client) {
                true => Err(Refusal::WebhookNotTaken),
                false => Err(Refusal::TooManyAttempts),
            }
        }
    }
}
