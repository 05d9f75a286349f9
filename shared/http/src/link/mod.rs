//! Resume links: made through the API, followed by people. Looking at one changes nothing, pressing its button does.

mod make;
mod page;
mod visit;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

pub(crate) use visit::elsa;

/// Below this path lie the links that people follow.
pub(crate) const BASE: &str = "/links";

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new().route(
        "/workflow-instances/{id}/bookmarks/{bookmark}/links",
        post(make::make),
    )
}

/// The routes for those who follow a link, relative to the root.
pub(crate) fn visits() -> Router<App> {
    Router::new().route("/links/{secret}", get(visit::look).post(visit::answer))
}
