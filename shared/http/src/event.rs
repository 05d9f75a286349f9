//! Publishing events.

use axum::body::Bytes;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json as Answer, Router};
use dormouse_runtime::EventRequest;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::ElsaJson;
use crate::client_address::ClientAddress;
use crate::instance::start::idempotency_key;
use crate::link;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;
use crate::workflow;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/events/trigger", get(by_link))
        .route("/events/{name}/trigger", post(trigger))
}

/// An event and whom it is for. Elsa's names.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Trigger {
    workflow_instance_id: Option<String>,
    correlation_id: Option<String>,
    activity_instance_id: Option<String>,
    input: Value,
    workflow_execution_mode: Mode,
    /// How long it is kept if nobody waits for it, in seconds. Not in Elsa, which keeps it for ten minutes.
    kept_for_seconds: Option<u32>,
}

/// Whether the answer waits for what the event does.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Mode {
    #[default]
    Asynchronous,
    Synchronous,
}

/// `GET /events/trigger?t=`, Elsa's own address of an event link, where the configuration allows it.
async fn by_link(
    Scoped(app): Scoped,
    method: Method,
    client: ClientAddress,
    query: Query,
) -> Result<Response, Refusal> {
    link::elsa(&app, &method, &client, &query, &Bytes::new()).await
}

/// `POST /events/{name}/trigger`. When it answers, the event is safe; in synchronous mode it is delivered too.
async fn trigger(
    Scoped(app): Scoped,
    Path(name): Path<String>,
    headers: HeaderMap,
    ElsaJson(request): ElsaJson<Trigger>,
) -> Result<Response, Refusal> {
    let event = EventRequest {
        name,
        event_id: idempotency_key(&headers),
        // Elsa gives an event that comes with nothing an empty object.
        payload: if request.input.is_null() {
            json!({})
        } else {
            request.input
        },
        correlation_id: request.correlation_id,
        instance_id: request.workflow_instance_id,
        activity_instance_id: request.activity_instance_id,
        queued_ms: request.kept_for_seconds.map(|s| i64::from(s) * 1_000),
        waits: request.workflow_execution_mode == Mode::Synchronous,
        has_http_request: true,
    };
    let outcome = app
        .runtime()
        .stimuli()
        .publish_event(app.tenant(), event)
        .await?;
    let mut delivered = outcome.delivered;
    if let Some(response) = delivered.as_mut().and_then(|d| d.response.take()) {
        return Ok(workflow::response(response));
    }
    let delivered = delivered
        .map(|d| json!({ "started": d.started, "resumed": d.resumed, "isKept": d.queued }));
    Ok(Answer(json!({ "eventId": outcome.event_id, "delivered": delivered })).into_response())
}
