//! What this node says of itself to an operator, and the pause. It can be asked while the node drains, too.
//!
//! A pause is in force for every node and tenant, so it is for those to begin and end who have the deployment: the tenant
//! that a deployment has by itself.

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json as Answer, Router};
use dormouse_engine::time::Timestamp;
use dormouse_runtime::{Pause, Tenant};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::Json;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// The longest reason of a pause, in bytes.
const REASON_BYTES_MAX: usize = 1_000;

/// The routes, relative to the root: they are answered while the node drains, see [`crate::stage`].
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/elsa/api/admin/workflow-runtime/status", get(status))
        .route("/elsa/api/admin/workflow-runtime/pause", post(pause))
        .route("/elsa/api/admin/workflow-runtime/resume", post(resume))
}

/// `GET /admin/workflow-runtime/status`: as the table says it now.
async fn status(State(app): State<App>) -> Result<Answer<Value>, Refusal> {
    let pause = app.runtime().pauses().look().await?;
    Ok(told(&app, pause.as_ref()))
}

/// What a pause is for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Pausing {
    reason: Option<String>,
}

/// `POST /admin/workflow-runtime/pause`: one that there is stays as it is.
async fn pause(
    Scoped(app): Scoped,
    Json(request): Json<Pausing>,
) -> Result<Answer<Value>, Refusal> {
    of_the_deployment(&app)?;
    let reason = request.reason.filter(|reason| !reason.is_empty());
    if let Some(long) = reason.as_ref().filter(|r| r.len() > REASON_BYTES_MAX) {
        let told = format!("{} bytes; the limit is {REASON_BYTES_MAX}", long.len());
        return Err(Refusal::bad_parameter("reason", &told));
    }
    let by = &app.principal().name;
    let pause = app.runtime().pauses().begin(by, reason).await?;
    Ok(told(&app, pause.as_ref()))
}

/// `POST /admin/workflow-runtime/resume`: also where there is no pause.
async fn resume(Scoped(app): Scoped) -> Result<Answer<Value>, Refusal> {
    of_the_deployment(&app)?;
    app.runtime().pauses().end().await?;
    Ok(told(&app, None))
}

fn of_the_deployment(app: &App) -> Result<(), Refusal> {
    match *app.tenant() == Tenant::default() {
        true => Ok(()),
        false => Err(Operating::NotYourDeployment.into()),
    }
}

/// What brings work in, under Elsa's names.
const SOURCES: [&str; 3] = [
    "scheduling.trigger",
    "internal.bookmark-queue-worker",
    "http.trigger",
];

/// The state as Elsa spells it.
fn told(app: &App, pause: Option<&Pause>) -> Answer<Value> {
    let is_draining = app.is_draining();
    let reason = match (pause, is_draining) {
        (None, false) => "None",
        (None, true) => "Drain",
        (Some(_), false) => "AdministrativePause",
        (Some(_), true) => "AdministrativePause, Drain",
    };
    let state = match reason {
        "None" => "Running",
        _ => "Paused",
    };
    Answer(json!({
        "state": {
            "generationId": "",
            "reason": reason,
            "isAcceptingNewWork": !is_draining && pause.is_none(),
            "pausedAt": pause.map(|pause| Timestamp(pause.since_ms).to_string()),
            "pauseReasonText": pause.and_then(|pause| pause.reason.as_ref()),
            "pauseRequestedBy": pause.map(|pause| &pause.by),
        },
        "activeExecutionCycleCount": 0,
        "sources": SOURCES.map(|name| json!({ "name": name, "state": state })),
    }))
}
