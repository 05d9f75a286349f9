//! Workflow instances: everything under `/elsa/api/workflow-instances`.

pub(crate) mod accepted;
mod bulk;
mod cancel;
mod journal;
mod list;
pub(crate) mod model;
mod read;
mod resume;
pub(crate) mod start;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

pub(crate) use resume::{answer as resumed, report as resume_report};

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(
            "/workflow-instances",
            get(list::by_query).post(list::or_start),
        )
        .route(
            "/workflow-instances/{id}",
            get(read::instance).delete(cancel::delete),
        )
        .route(
            "/workflow-instances/{id}/execution-state",
            get(read::execution_state),
        )
        .route("/workflow-instances/{id}/variables", get(read::variables))
        .route(
            "/workflow-instances/{id}/journal",
            get(journal::by_query).post(journal::by_body),
        )
        .route("/workflow-instances/{id}/resume", post(resume::resume))
        .route("/cancel/workflow-instances/{id}", post(cancel::cancel))
        .route(
            "/bulk-actions/cancel/workflow-instances",
            post(bulk::cancel),
        )
        .route(
            "/bulk-actions/cancel/workflow-instances/",
            post(bulk::cancel),
        )
        .route(
            "/bulk-actions/delete/workflow-instances",
            post(bulk::delete),
        )
        .route(
            "/bulk-actions/delete/workflow-instances/by-id",
            post(bulk::delete),
        )
        .route("/alterations/workflows/retry", post(resume::retry))
}
