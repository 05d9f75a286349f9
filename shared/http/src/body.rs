//! Bodies of requests, read by counted bytes, and JSON in them.

use std::pin::pin;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use futures_util::future::{Either, select};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::app::App;
use crate::memory::Ledger;
use crate::refusal::{Overload, Refusal};

/// The deepest JSON taken; serde_json's own limit.
pub(crate) const DEPTH_MAX: usize = 128;

/// The bytes of a body, at most the server's limit of them, whatever the request declares.
#[derive(Debug)]
pub(crate) struct Body(pub(crate) Bytes);

/// A body that was read and counted before the handler asks for it; among a request's extensions.
#[derive(Debug, Clone)]
pub(crate) struct Read(pub(crate) Bytes);

/// Time for a body to begin, in ms, and the least speed afterwards.
const GRACE_MS: u64 = 10_000;
const BYTES_PER_MS_MIN: u64 = 8;

impl FromRequest<App> for Body {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        if let Some(Read(bytes)) = request.extensions().get::<Read>() {
            return Ok(Self(bytes.clone()));
        }
        let ledger = Ledger::of(&request, app);
        let bytes = read(request, app, &ledger).await?;
        let is_structure = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
        if is_structure {
            ledger.take_json(&bytes, app.config().parsed_bytes_max)?;
        }
        Ok(Self(bytes))
    }
}

/// Reads a body by counted bytes, at most the server's limit of them, and not for ever.
async fn read(request: Request, app: &App, ledger: &Ledger) -> Result<Bytes, Refusal> {
    let limit = app.config().body_bytes_max;
    let clock = &app.runtime().ports().clock;
    let began = Instant::now();
    let mut body = request.into_body();
    let mut whole = Vec::new();
    loop {
        let spent_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let granted_ms = GRACE_MS + whole.len() as u64 / BYTES_PER_MS_MIN;
        let left_ms = granted_ms.saturating_sub(spent_ms);
        let next = pin!(body.frame());
        let frame = match select(next, clock.sleep(left_ms)).await {
            Either::Left((Some(frame), _)) => frame,
            Either::Left((None, _)) => break,
            Either::Right(_) => return Err(Overload::SlowBody.into()),
        };
        let frame = frame.map_err(|error| Refusal::BodyBroken {
            reason: error.to_string(),
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.len() > limit {
            return Err(Refusal::BodyTooLarge { limit });
        }
        ledger.take_body(data.len())?;
        whole.extend_from_slice(&data);
    }
    Ok(whole.into())
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
