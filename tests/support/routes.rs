//! The whole route table in process, over a table in memory and without a network.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use dormouse_embedded::{SystemClock, TableScheduler, TokioBackground};
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_expressions::{Expressions, Limits};
use dormouse_http::{App, HttpConfig, router};
use dormouse_runtime::identity::Authentication;
use dormouse_runtime::port::{HttpCaller, Ports};
use dormouse_runtime::{Runtime, RuntimeConfig};
use dormouse_store::item::config::StoreConfig;
use dormouse_store::{MemoryTable, Store};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

/// Nobody is reached.
struct NoNetwork;

#[async_trait]
impl HttpCaller for NoNetwork {
    async fn call(&self, _request: &HttpRequest, _timeout_ms: u64) -> Answer {
        Answer::FailedToConnect {
            message: "there is no network here".into(),
        }
    }
}

/// The routes of a server that lets everybody in.
pub struct Routes {
    router: Router,
}

/// An answer.
#[derive(Debug)]
pub struct Answered {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Vec<u8>,
}

impl Answered {
    /// Its body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Its body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }
}

impl Routes {
    /// A server with nothing in its table. Within tokio only.
    #[must_use]
    pub fn new(config: RuntimeConfig, limits: Limits) -> Self {
        let store = Store::new(Arc::new(MemoryTable::default()), StoreConfig::embedded());
        let ports = Ports {
            clock: Arc::new(SystemClock),
            background: Arc::new(TokioBackground::new(tokio::runtime::Handle::current())),
            scheduler: Arc::new(TableScheduler::new(store.clone())),
            http_caller: Arc::new(NoNetwork),
            queue: None,
            bus: None,
            broadcast: None,
            compute: None,
            observer: None,
            commands: None,
            functions: None,
            vault: None,
            metrics: None,
        };
        let runtime = Runtime::new(store, ports, Arc::new(Expressions::new(limits)), config);
        let app = App::new(runtime, HttpConfig::default());
        Self {
            router: router(app.with_authentication(Authentication::none())),
        }
    }

    /// Sends a request.
    pub async fn send(&self, request: Request<Body>) -> Answered {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answered {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes().to_vec(),
        }
    }
}
