//! Who may do what: signing in, users, roles, applications with their keys, and the audit log.

mod application;
mod audit;
mod oidc;
mod role;
mod session;
mod user;

use axum::Router;
use axum::routing::{delete, get, post, put};

use crate::app::App;

use oidc::{CALLBACK, SIGN_IN, SIGN_OUT};

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/identity/login", post(session::sign_in))
        .route("/identity/refresh-token", post(session::refresh))
        .route("/identity/logout", post(session::sign_out))
        .route("/identity/me", get(session::me))
        .route("/identity/ways", get(oidc::ways))
        .route("/identity/oidc/token", post(oidc::token))
        .route("/identity/users", get(user::list).post(user::create))
        .route(
            "/identity/users/{id}",
            put(user::update).delete(user::delete),
        )
        .route("/identity/roles", get(role::list).post(role::create))
        .route(
            "/identity/roles/{id}",
            put(role::update).delete(role::delete),
        )
        .route("/identity/roles/{id}/deletion-impact", get(role::impact))
        .route(
            "/identity/applications",
            get(application::list).post(application::create),
        )
        .route("/identity/applications/{id}", delete(application::delete))
        .route("/audit", get(audit::list))
}

/// The routes by which browsers go to an outside issuer and come back, relative to the root.
pub(crate) fn visits() -> Router<App> {
    Router::new()
        .route(SIGN_IN, get(oidc::begin))
        .route(CALLBACK, get(oidc::end))
        .route(SIGN_OUT, get(oidc::sign_out))
}
