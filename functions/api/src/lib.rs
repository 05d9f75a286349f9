//! The function `api`: the one route table behind an HTTP API of API Gateway or a function URL.
//!
//! Both send requests in payload format 2.0. Work that takes longer than a client waits is answered with 202 and the
//! place to look; it continues by message.

mod answer;
mod request;

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use dormouse_http::{App, HttpConfig, router};
use dormouse_lambda::{Error, Function};
use serde_json::Value;
use tower::ServiceExt as _;

/// The routes of a process: what it remembers of callers lasts from one invocation to the next.
#[derive(Default)]
pub struct Api(OnceLock<App>);

impl Api {
    /// Handles one event of Lambda's.
    ///
    /// # Errors
    ///
    /// The event is not a request in payload format 2.0.
    pub async fn handle(
        self: Arc<Self>,
        function: Arc<Function>,
        event: Value,
        deadline_ms: u64,
    ) -> Result<Value, Error> {
        let request = request::read(event)?;
        let runtime = function.runtime(deadline_ms);
        let first = || {
            let app = App::new(runtime.clone(), HttpConfig::default())
                .with_authentication(function.authentication().clone());
            match function.public_url() {
                Some(url) => app.with_public_url(url),
                None => app,
            }
        };
        let app = self.0.get_or_init(first).clone();
        let response = router(app.with_runtime(runtime))
            .oneshot(request)
            .await
            .unwrap_or_else(|never: Infallible| match never {});
        Ok(answer::write(response).await)
    }
}
