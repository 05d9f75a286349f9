//! Workflow instances: everything under `/elsa/api/workflow-instances`.

pub(crate) mod accepted;
pub(crate) mod attributes;
mod bulk;
mod cancel;
mod export;
mod import;
mod journal;
pub(crate) mod list;
pub(crate) mod model;
mod read;
mod reference;
mod resume;
pub(crate) mod start;
mod variables;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

pub(crate) use resume::{answer as resumed, report as resume_report};

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(
            "/workflow-instances",
            get(list::by_query).post(list::by_body),
        )
        .route("/workflow-starts", post(start::by_body))
        .route(
            "/workflow-instances/{id}",
            get(read::instance).delete(cancel::delete),
        )
        .route(
            "/workflow-instances/{id}/execution-state",
            get(read::execution_state),
        )
        .route(
            "/workflow-instances/{id}/variables",
            get(variables::list).post(variables::set),
        )
        .route(
            "/workflow-instances/{id}/journal",
            get(journal::by_query).post(journal::by_body),
        )
        .route(
            "/workflow-instances/{id}/journal/{activity}",
            get(journal::last_of_activity),
        )
        .route(
            "/workflow-instances/{id}/export",
            get(export::by_query).post(export::by_body),
        )
        .route(
            "/bulk-actions/export/workflow-instances",
            post(export::many),
        )
        .route("/workflow-instances/import", post(import::import))
        .route(
            "/bulk-actions/import/workflow-instances",
            post(import::import),
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
}
