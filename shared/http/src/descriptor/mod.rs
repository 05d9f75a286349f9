//! Descriptors: what Studio's toolbox, pickers and editors are made of.
//!
//! Requirements of Elsa Studio (this module, `definition/canvas.rs`, `console/page/console/studio.js`):
//!
//! - The engine's own descriptors (`engine/src/activity/`) are the one catalogue of activity types. A canvas with an activity that has no
//!   descriptor stays empty. An unknown type is therefore delivered as `Elsa.NotFoundActivity` with the original inside, and restored when it is
//!   saved. Reading never changes what is stored.
//! - Every activity of an answer has its node id, computed by the graph's own builder with the workflows it uses inlined (`graph/place.rs`).
//!   Journals and badges use it, and so does Studio when it opens the workflow behind an activity.
//! - The id of an activity execution names its instance (`instance.execution`), so that it can be found without an index.
//! - Studio's addresses are below `/workflows/`, where HTTP workflows are. A browser that opens one gets Studio's page, so that no author can
//!   replace it. Programs reach the workflow that listens there.
//! - The console is public files. It requests its content from the API, with the permissions of the signed-in user.

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

/// The type that represents an unknown type on a canvas.
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
