//! The function `api`: the one route table behind an HTTP API of API Gateway or a function URL.
//!
//! Both send requests in payload format 2.0. Work that takes longer than a client waits is answered with 202 and the
//! place to look; it goes on by message.

mod answer;
mod request;

use std::convert::Infallible;
use std::sync::Arc;

use dormouse_http::{App, HttpConfig, router};
use dormouse_lambda::{Error, Function};
use serde_json::Value;
use tower::ServiceExt as _;

/// Handles one event of Lambda's.
///
/// # Errors
///
/// The event is not a request in payload format 2.0.
pub async fn handle(
    function: Arc<Function>,
    event: Value,
    deadline_ms: u64,
) -> Result<Value, Error> {
    let request = request::read(event)?;
    let app = App::new(function.runtime(deadline_ms), HttpConfig::default());
    let response = router(app)
        .oneshot(request)
        .await
        .unwrap_or_else(|never: Infallible| match never {});
    Ok(answer::write(response).await)
}
