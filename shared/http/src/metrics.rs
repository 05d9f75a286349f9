//! The node's numbers, for Prometheus and whoever reads its format.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::App;
use crate::refusal::Refusal;

/// Writes the page of a node's numbers.
pub type MetricsPage = Arc<dyn Fn() -> String + Send + Sync>;

/// The route, relative to the root.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/metrics", get(metrics))
}

async fn metrics(State(app): State<App>) -> Response {
    let Some(page) = app.metrics() else {
        let path = "/metrics".to_owned();
        return Refusal::NoSuchRoute { path }.into_response();
    };
    let format = (header::CONTENT_TYPE, "text/plain; version=0.0.4");
    ([format], page()).into_response()
}
