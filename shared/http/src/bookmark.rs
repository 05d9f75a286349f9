//! Resuming by bookmark: by its instance and id, and, where the configuration allows it, by a link's token as in Elsa.

use axum::Router;
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use dormouse_runtime::ResumeRequest;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::access::RESUME;
use crate::app::App;
use crate::body::{Body, parse};
use crate::client_address::ClientAddress;
use crate::instance;
use crate::link;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/bookmarks/resume", get(resume).post(resume))
}

/// What to resume.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resume {
    workflow_instance_id: String,
    bookmark_id: String,
    input: Option<Map<String, Value>>,
}

async fn resume(
    Scoped(app): Scoped,
    method: Method,
    client: ClientAddress,
    query: Query,
    Body(bytes): Body,
) -> Result<Response, Refusal> {
    if query.text("t").is_some() {
        return link::elsa(&app, &method, &client, &query, &bytes).await;
    }
    // As in Elsa, a request that names nothing to resume is told so whoever sends it.
    let request: Resume = parse(&bytes)?;
    app.require(RESUME)?;
    let id = request.workflow_instance_id;
    let input = request.input.unwrap_or_default();
    let resume = ResumeRequest::bookmark(&id, request.bookmark_id, input);
    let outcome = app
        .runtime()
        .instances()
        .resume(app.tenant(), resume)
        .await?;
    Ok(instance::resumed(id, outcome)?.into_response())
}
