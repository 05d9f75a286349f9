//! Whether the server lives, and whether it can work.

use std::fmt::Display;

use axum::extract::State;
use axum::middleware::map_response;
use axum::routing::get;
use axum::{Json, Router};
use dormouse_runtime::{DefinitionHandle, Runtime};
use serde_json::{Value, json};

use crate::app::App;
use crate::headers;
use crate::refusal::{Operating, Overload, Refusal};

/// The routes, relative to the root.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
}

/// What a server answers on connections that it has no place for: that it lives, and else to come again.
pub fn overloaded() -> Router {
    async fn shed() -> Refusal {
        Overload::Connections.into()
    }
    Router::new()
        .route("/health/live", get(live))
        .fallback(shed)
        .layer(map_response(headers::harden))
}

/// The process answers.
async fn live() -> Json<Value> {
    Json(json!({ "status": "Healthy" }))
}

/// It takes requests, and its table answers and accepts writes.
async fn ready(State(app): State<App>) -> Result<Json<Value>, Refusal> {
    if app.is_draining() {
        return Err(Refusal::Draining);
    }
    let runtime: &Runtime = app.runtime();
    let writes = runtime.store().table().accepts_writes().await;
    writes.map_err(|error| not_ready(&error))?;
    let read = runtime
        .query()
        .definition(app.tenant(), &DefinitionHandle::latest("health"))
        .await;
    read.map_err(|error| not_ready(&error))?;
    Ok(Json(
        json!({ "status": "Healthy", "node": runtime.config().node }),
    ))
}

/// The cause is in the log: the table wrote it there.
fn not_ready(error: &dyn Display) -> Refusal {
    let reason = error.to_string();
    Operating::NotReady { reason }.into()
}
