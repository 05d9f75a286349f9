//! The parameters in a path; what cannot be read is refused like everything else.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::refusal::Refusal;

/// The parameters of the route, in their order.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = axum::extract::Path::from_request_parts(parts, state).await;
        match read {
            Ok(axum::extract::Path(parameters)) => Ok(Self(parameters)),
            Err(_) => Err(Refusal::bad_parameter("path", parts.uri.path())),
        }
    }
}
