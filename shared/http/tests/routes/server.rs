//! The routes of a runtime over a table in memory, asked without a network.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use dormouse_embedded::{SystemClock, TableScheduler, TokioBackground};
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_expressions::{Expressions, Limits};
use dormouse_http::{App, HttpConfig, router};
use dormouse_runtime::identity::Authentication;
use dormouse_runtime::port::{Clock, HttpCaller, Observer, Ports, Vault};
use dormouse_runtime::{Runtime, RuntimeConfig};
use dormouse_store::item::config::StoreConfig;
use dormouse_store::{MemoryTable, Store};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

/// Nobody is reached.
pub(crate) struct NoNetwork;

#[async_trait]
impl HttpCaller for NoNetwork {
    async fn call(&self, _request: &HttpRequest, _timeout_ms: u64) -> Answer {
        Answer::FailedToConnect {
            message: "there is no network here".into(),
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answered {
    /// Its body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Its JSON, if it has the status; else the test fails.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status.as_u16(), status, "{text}");
        if self.body.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }

    /// Fails the test unless it is a problem with the status and the code.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        let body = self.ok(status);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(body["code"], code, "{body:#}");
        assert_eq!(body["status"], status);
        let detail = body["detail"].as_str().unwrap();
        assert!(detail.len() > 20, "no sentence: {detail}");
        body
    }

    /// A header as text.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}

/// An app over an empty table. To be made on a tokio runtime.
pub(crate) fn app(config: HttpConfig) -> App {
    app_with(config, Arc::new(NoNetwork)).with_authentication(Authentication::none())
}

fn app_with(config: HttpConfig, http_caller: Arc<dyn HttpCaller>) -> App {
    app_over(
        Arc::default(),
        Arc::new(SystemClock),
        config,
        http_caller,
        (None, None),
    )
}

/// Who hears of what happens, and where secrets are sealed.
type Beside = (Option<Arc<dyn Observer>>, Option<Arc<dyn Vault>>);

fn app_over(
    table: Arc<MemoryTable>,
    clock: Arc<dyn Clock>,
    config: HttpConfig,
    http_caller: Arc<dyn HttpCaller>,
    (observer, vault): Beside,
) -> App {
    let store = Store::new(table, StoreConfig::embedded());
    let background = TokioBackground::new(tokio::runtime::Handle::current());
    let ports = Ports {
        clock,
        background: Arc::new(background),
        scheduler: Arc::new(TableScheduler::new(store.clone())),
        http_caller,
        queue: None,
        bus: None,
        broadcast: None,
        compute: None,
        observer,
        commands: None,
        functions: None,
        vault,
        metrics: None,
    };
    let expressions = Arc::new(Expressions::new(Limits::default()));
    let runtime = Runtime::new(store, ports, expressions, RuntimeConfig::server("test"));
    App::new(runtime, config)
}

/// A server without a network.
pub(crate) struct Server {
    pub(crate) app: App,
    router: Router,
}

impl Server {
    /// A server with nothing in it. To be made on a tokio runtime.
    pub(crate) fn new() -> Self {
        Self::with(HttpConfig::default())
    }

    /// The same with a configuration.
    pub(crate) fn with(config: HttpConfig) -> Self {
        Self::of(app(config))
    }

    /// The same for whom the setting lets in, with a network.
    pub(crate) fn letting_in(
        config: HttpConfig,
        authentication: Authentication,
        http_caller: Arc<dyn HttpCaller>,
    ) -> Self {
        Self::of(app_with(config, http_caller).with_authentication(authentication))
    }

    /// The same by a clock of the test's.
    pub(crate) fn at(
        clock: Arc<dyn Clock>,
        authentication: Authentication,
        http_caller: Arc<dyn HttpCaller>,
    ) -> Self {
        let app = app_over(
            Arc::default(),
            clock,
            HttpConfig::default(),
            http_caller,
            (None, None),
        );
        Self::of(app.with_authentication(authentication))
    }

    /// The same over a table that the test reads too, and with somebody who hears what workflows write.
    pub(crate) fn over(
        table: Arc<MemoryTable>,
        config: HttpConfig,
        authentication: Authentication,
        observer: Option<Arc<dyn Observer>>,
    ) -> Self {
        let app = app_over(
            table,
            Arc::new(SystemClock),
            config,
            Arc::new(NoNetwork),
            (observer, None),
        );
        Self::of(app.with_authentication(authentication))
    }

    /// The same for everybody, with a network and secrets.
    pub(crate) fn with_secrets(
        (table, vault): (Arc<MemoryTable>, Arc<dyn Vault>),
        config: HttpConfig,
        http_caller: Arc<dyn HttpCaller>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let ports = (Some(observer), Some(vault));
        let app = app_over(table, Arc::new(SystemClock), config, http_caller, ports);
        Self::of(app.with_authentication(Authentication::none()))
    }

    /// Sends any request, and answers as soon as the server has, whatever else of the body there is.
    pub(crate) async fn status(&self, request: Request<Body>) -> u16 {
        self.router
            .clone()
            .oneshot(request)
            .await
            .unwrap()
            .status()
            .as_u16()
    }

    /// The routes of an app.
    pub(crate) fn of(app: App) -> Self {
        Self {
            router: router(app.clone()),
            app,
        }
    }

    /// Sends any request.
    pub(crate) async fn send(&self, mut request: Request<Body>) -> Answered {
        // Without it workflows' paths refuse with a bare status.
        let accept = HeaderValue::from_static("application/json, application/problem+json");
        request.headers_mut().entry("accept").or_insert(accept);
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answered {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes().to_vec(),
        }
    }

    /// Sends a request without a body.
    pub(crate) async fn ask(&self, method: &str, path: &str) -> Answered {
        let request = Request::builder().method(method).uri(path);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Reads something under the API.
    pub(crate) async fn get(&self, path: &str) -> Answered {
        self.ask("GET", &format!("/elsa/api{path}")).await
    }

    /// Posts JSON to the API.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answered {
        self.post_bytes(path, body.to_string().into()).await
    }

    /// Posts anything to the API.
    pub(crate) async fn post_bytes(&self, path: &str, body: Body) -> Answered {
        let request = Request::builder()
            .method("POST")
            .uri(format!("/elsa/api{path}"))
            .header("content-type", "application/json");
        self.send(request.body(body).unwrap()).await
    }

    /// Uploads files as a browser does.
    pub(crate) async fn upload(&self, path: &str, files: &[(&str, Vec<u8>)]) -> Answered {
        let mut body = Vec::new();
        for (name, bytes) in files {
            let head = format!(
                "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n"
            );
            body.extend(head.as_bytes());
            body.extend(bytes);
            body.extend(b"\r\n");
        }
        body.extend(b"--b--\r\n");
        let request = Request::post(format!("/elsa/api{path}"))
            .header("content-type", "multipart/form-data; boundary=b")
            .body(Body::from(body));
        self.send(request.unwrap()).await
    }

    /// Publishes a definition.
    pub(crate) async fn publish(&self, model: Value) -> Value {
        let body = json!({ "model": model, "publish": true });
        self.post("/workflow-definitions", &body).await.ok(200)
    }
}

/// A literal input.
pub(crate) fn literal(type_name: &str, value: &Value) -> Value {
    json!({ "typeName": type_name, "expression": { "type": "Literal", "value": value } })
}

/// A definition of activities in sequence.
pub(crate) fn sequence(id: &str, activities: Value) -> Value {
    json!({
        "definitionId": id,
        "name": id,
        "root": { "type": "Elsa.Sequence", "id": "all", "activities": activities },
    })
}

/// A definition that writes a line, waits for the event `Go` and ends.
pub(crate) fn waiting(id: &str) -> Value {
    sequence(
        id,
        json!([
            { "type": "Elsa.WriteLine", "id": "hello", "text": literal("String", &"hello".into()) },
            { "type": "Elsa.Event", "id": "go", "eventName": literal("String", &"Go".into()) },
        ]),
    )
}
