//! Requests to the whole route table, in process: whatever is sent, nobody panics and nothing answers 500.

use axum::body::Body;
use axum::http::Request;
use dormouse_expressions::Limits;
use dormouse_runtime::RuntimeConfig;
use dormouse_tests::primitives::{delay, endpoint, event, respond, sequence, task};
use dormouse_tests::routes::Routes;
use dormouse_tests::{liquid, workflow};
use serde_json::{Value, json};

use super::drive::{drive, kept};
use super::mutant::{Chance, mutant_json};

/// How many requests one server takes before a new one takes its place, so that what they leave is bounded.
const REQUESTS_MAX: u32 = 400;

struct Server {
    routes: Routes,
    requests: u32,
}

impl Server {
    /// A server that knows a workflow and has an instance that waits, both named in the corpus.
    async fn new() -> Self {
        let limits = Limits {
            steps_max: 2_000,
            time_ms_max: 200,
            ..Limits::default()
        };
        let mut config = RuntimeConfig::server("fuzz");
        config.wait_ms_max = 0;
        config.limits.burst_activities_max = 500;
        config.limits.step_activities_max = 500;
        let mut server = Self {
            routes: Routes::new(config, limits),
            requests: 0,
        };
        for request in first() {
            server.send(&request).await;
        }
        server
    }

    /// Sends a request as the corpus describes it. One that is no HTTP at all is not sent.
    async fn send(&mut self, input: &Value) {
        self.requests += 1;
        let text = |name: &str| match &input[name] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let mut request = Request::builder()
            .method(text("method").as_str())
            .uri(text("path"));
        for (name, value) in input["headers"].as_object().into_iter().flatten() {
            request = request.header(
                name,
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned),
            );
        }
        let Ok(request) = request.body(Body::from(text("body"))) else {
            return;
        };
        let answer = self.routes.send(request).await;
        let status = answer.status;
        // A workflow may answer what it likes under its own path, and one that is executed and fails is
        // answered with its state and 500, as Elsa does.
        let is_own = text("path").starts_with("/workflows");
        let body = answer.text();
        let is_faulted = body.starts_with("{\"workflowState\":") && body.contains("\"Faulted\"");
        assert!(
            status < 500 || is_faulted || is_own && !body.contains("unexpected"),
            "{status} {body}"
        );
    }
}

/// What a server knows at the beginning.
fn first() -> Vec<Value> {
    let post = |path: &str, body: Value| json!({ "method": "POST", "path": path, "headers": { "content-type": "application/json" }, "body": body });
    let waiting = workflow("w", sequence([event("go"), delay("01:00:00"), task("t")]));
    let page = workflow(
        "p",
        sequence([
            endpoint("page/{a}", &["GET", "POST"]),
            respond(liquid("{{ 'x' }}")),
        ]),
    );
    vec![
        post(
            "/elsa/api/workflow-definitions",
            json!({ "model": waiting.json(), "publish": true }),
        ),
        post(
            "/elsa/api/workflow-definitions",
            json!({ "model": page.json(), "publish": true }),
        ),
        post(
            "/elsa/api/workflow-definitions/w/dispatch",
            json!({ "instanceId": "i", "correlationId": "c" }),
        ),
    ]
}

/// Requests of every route.
fn corpus() -> Vec<Value> {
    let mut all = first();
    for bytes in kept("http") {
        let Value::Array(some) = serde_json::from_slice(&bytes).unwrap() else {
            continue;
        };
        all.extend(some);
    }
    all
}

#[test]
fn requests() {
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let corpus = corpus();
    let mut server = tokio.block_on(Server::new());
    let next = |chance: &mut Chance| mutant_json(chance, &corpus);
    drive("http", corpus.clone(), next, Value::to_string, |input| {
        tokio.block_on(async {
            if server.requests >= REQUESTS_MAX {
                server = Server::new().await;
            }
            server.send(input).await;
        });
    });
}
