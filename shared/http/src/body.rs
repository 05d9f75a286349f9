//! Bodies of requests, read by counted bytes, and JSON in them.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::app::App;
use crate::refusal::Refusal;

/// The deepest JSON taken; serde_json's own limit.
pub(crate) const DEPTH_MAX: usize = 128;

/// The bytes of a body, at most the server's limit of them, whatever the request declares.
#[derive(Debug)]
pub(crate) struct Body(pub(crate) Bytes);

impl FromRequest<App> for Body {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let limit = app.config().body_bytes_max;
        match axum::body::to_bytes(request.into_body(), limit).await {
            Ok(bytes) => Ok(Self(bytes)),
            Err(error) if is_over_limit(&error) => Err(Refusal::BodyTooLarge { limit }),
            Err(error) => Err(Refusal::BodyBroken {
                reason: error.to_string(),
            }),
        }
    }
}

fn is_over_limit(error: &axum::Error) -> bool {
    std::error::Error::source(error)
        .is_some_and(|cause| cause.is::<http_body_util::LengthLimitError>())
}

/// A JSON body. An empty one counts as `{}`, as in Elsa; the content type is not asked for.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let Body(bytes) = Body::from_request(request, app).await?;
        parse(&bytes).map(Self)
    }
}

/// Reads JSON; nothing at all counts as `{}`.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    let bytes = if bytes.trim_ascii().is_empty() {
        b"{}"
    } else {
        bytes
    };
    serde_json::from_slice(bytes).map_err(|error| refused(&error))
}

/// Takes a value out of JSON that was read already.
pub(crate) fn shape<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_json::from_value(value).map_err(|error| refused(&error))
}

fn refused(error: &serde_json::Error) -> Refusal {
    let reason = error.to_string();
    if reason.starts_with("recursion limit exceeded") {
        Refusal::JsonTooDeep { limit: DEPTH_MAX }
    } else if error.is_data() {
        Refusal::WrongShape { reason }
    } else {
        Refusal::NotJson { reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_body_is_told_apart() {
        assert_eq!(parse::<Value>(b" \n").unwrap(), serde_json::json!({}));
        assert!(matches!(
            parse::<Value>(b"{\"a\":"),
            Err(Refusal::NotJson { .. })
        ));
        assert!(matches!(
            parse::<Vec<u8>>(b"{}"),
            Err(Refusal::WrongShape { .. })
        ));
        let deep = "[".repeat(200);
        assert!(matches!(
            parse::<Value>(deep.as_bytes()),
            Err(Refusal::JsonTooDeep { .. })
        ));
    }
}
