//! What this node says of itself to an operator. It can be asked while the node drains, too.
//!
//! There is no pause: what comes is kept in the table and by queues, and a node that should take nothing is stopped.

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::app::App;

/// The routes, relative to the root: they lie beside those that are refused while the node drains.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/elsa/api/admin/workflow-runtime/status", get(status))
}

async fn status(State(app): State<App>) -> Json<Value> {
    let is_draining = app.is_draining();
    Json(json!({
        "state": {
            "reason": if is_draining { "Drain" } else { "None" },
            "isAcceptingNewWork": !is_draining,
        },
        "sources": [],
    }))
}
