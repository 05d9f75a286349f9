//! Descriptors: what Studio's toolbox, pickers and editors are made of.

mod activity;
mod catalogue;
mod composite;
mod lists;
mod own_type;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

pub(crate) use composite::Composites;
pub(crate) use own_type::OwnTypes;

/// The type that stands on a canvas for one nobody knows.
pub(crate) const NOT_FOUND: &str = "Elsa.NotFoundActivity";

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/descriptors/activities", get(activity::list))
        .route("/descriptors/activities/{type}", get(activity::one))
        .route(
            "/descriptors/activities/{type}/options/{property}",
            post(activity::options),
        )
        .route("/descriptors/variables", get(lists::variables))
        .route("/descriptors/storage-drivers", get(lists::storage_drivers))
        .route(
            "/descriptors/expression-descriptors",
            get(lists::expressions),
        )
        .route(
            "/descriptors/workflow-activation-strategies",
            get(lists::activation),
        )
        .route("/descriptors/incident-strategies", get(lists::incidents))
        .route(
            "/descriptors/log-persistence-strategies",
            get(lists::log_persistence),
        )
        .route(
            "/descriptors/commit-strategies/workflows",
            get(lists::workflow_commits),
        )
        .route(
            "/descriptors/commit-strategies/activities",
            get(lists::activity_commits),
        )
        .route("/descriptors/output-converters", get(lists::none))
        .route("/features/installed", get(lists::features))
        .route("/features/installed/{name}", get(lists::feature))
}
