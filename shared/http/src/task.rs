//! Completing tasks of outside workers.

use axum::Router;
use axum::response::Response;
use axum::routing::post;
use dormouse_runtime::ResumeOutcome;
use serde::Deserialize;
use serde_json::Value;

use crate::app::App;
use crate::body::ElsaJson;
use crate::instance;
use crate::path::Path;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/tasks/{id}/complete", post(complete))
}

/// What the worker found.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Completion {
    result: Value,
}

/// `POST /tasks/{id}/complete`. Elsa answers 200 to everything; here an unknown task is 404 and a second completion
/// 409, so that a worker knows whether its result counts.
async fn complete(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    ElsaJson(request): ElsaJson<Completion>,
) -> Result<Response, Refusal> {
    let outcome = app
        .runtime()
        .instances()
        .complete_task(app.tenant(), &id, request.result)
        .await?;
    if matches!(outcome, ResumeOutcome::NotFound) {
        return Err(Operating::NoSuchTask { id }.into());
    }
    instance::resumed(id, outcome)
}
