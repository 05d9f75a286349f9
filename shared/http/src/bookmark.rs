//! Resuming by bookmark. By its instance and id only; resume links with tokens need who-may-do-what first.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use dormouse_runtime::ResumeRequest;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::app::App;
use crate::body::Json;
use crate::instance;
use crate::refusal::Refusal;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/bookmarks/resume", post(resume))
}

/// What to resume.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resume {
    workflow_instance_id: String,
    bookmark_id: String,
    input: Option<Map<String, Value>>,
}

async fn resume(State(app): State<App>, Json(request): Json<Resume>) -> Result<Response, Refusal> {
    let id = request.workflow_instance_id;
    let input = request.input.unwrap_or_default();
    let resume = ResumeRequest::bookmark(&id, request.bookmark_id, input);
    let outcome = app.runtime().resume(app.tenant(), resume).await?;
    instance::resumed(id, outcome)
}
