//! The routes' view of the server for one request: with the tenant of whoever sent it.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use dormouse_runtime::identity::Principal;

use crate::app::App;
use crate::refusal::Refusal;

/// The server, for the tenant of the request's sender. Every handler that touches data takes it; without a layer
/// that knows the sender there is none, and the request is refused.
pub(crate) struct Scoped(pub(crate) App);

impl FromRequestParts<App> for Scoped {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let principal = parts.extensions.get::<Principal>();
        let principal = principal.ok_or(Refusal::Unauthenticated)?;
        Ok(Self(app.clone().of(principal.clone())))
    }
}
