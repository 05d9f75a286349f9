//! The HTTP requests of activities.

use async_trait::async_trait;
use dormouse_engine::call::{Answer, HttpRequest};

/// Makes HTTP requests. Whatever becomes of one is an answer for the workflow, never an error.
#[async_trait]
pub trait HttpCaller: Send + Sync + 'static {
    /// Makes the request, with its idempotency key as the header `Idempotency-Key`, and waits for the answer at
    /// most `timeout_ms`.
    async fn call(&self, request: &HttpRequest, timeout_ms: u64) -> Answer;
}
