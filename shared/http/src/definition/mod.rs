//! Workflow definitions: everything under `/elsa/api/workflow-definitions`.

mod bulk;
mod canvas;
mod execute;
mod export;
mod graph;
mod import;
mod list;
mod model;
mod publish;
mod read;
mod remove;
mod save;
mod subgraph;
mod validate;

pub(crate) use canvas::activity_at;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/workflow-definitions", get(list::list).post(save::save))
        .route("/workflow-definitions/query/count", get(list::count))
        .route("/workflow-definitions/many-by-id", get(read::many_by_id))
        .route("/workflow-definitions/validate", post(validate::validate))
        .route(
            "/workflow-definitions/validation/is-name-unique",
            get(validate::is_name_unique),
        )
        .route("/workflow-definitions/by-id/{id}", get(read::by_id))
        .route("/workflow-definitions/graph/{id}", get(graph::graph))
        .route(
            "/workflow-definitions/by-definition-id/{id}",
            get(read::by_definition_id),
        )
        .route(
            "/workflow-definitions/{id}",
            get(read::by_definition_id).delete(remove::definition),
        )
        .route("/workflow-definitions/{id}/versions", get(read::versions))
        .route("/workflow-definitions/{id}/consumers", get(read::consumers))
        .route("/workflow-definitions/{id}/publish", post(publish::publish))
        .route("/workflow-definitions/{id}/retract", post(publish::retract))
        .route(
            "/workflow-definitions/{id}/revert/{version}",
            post(publish::revert),
        )
        .route(
            "/workflow-definitions/{id}/update-references",
            post(publish::update_references),
        )
        .route(
            "/workflow-definitions/{id}/version/{version}",
            axum::routing::delete(remove::version),
        )
        .route(
            "/workflow-definition-versions/{id}",
            axum::routing::delete(remove::version_by_id),
        )
        .route(
            "/workflow-definitions/{id}/export",
            get(export::export).post(export::export),
        )
        .route(
            "/workflow-definitions/{id}/execute",
            get(execute::by_query).post(execute::by_body),
        )
        .route(
            "/workflow-definitions/{id}/dispatch",
            post(execute::dispatch),
        )
        .route(
            "/workflow-definitions/{id}/bulk-dispatch",
            post(execute::bulk_dispatch),
        )
        .route(
            "/actions/workflow-definitions/refresh",
            post(publish::refresh),
        )
        .route(
            "/actions/workflow-definitions/reload",
            post(publish::reload),
        )
        .merge(import::routes())
        .merge(subgraph::routes())
        .merge(bulk::routes())
}
