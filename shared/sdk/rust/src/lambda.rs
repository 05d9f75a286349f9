//! AWS Lambda: one function for many activity types, invoked by a `lambda` handler or by its function URL (`http`). Speaks
//! the Runtime API of Lambda (page "Using the Lambda runtime API") over plain HTTP.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Method, Request, Response, body::Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use crate::context::Task;
use crate::handler::ActivityError;
use crate::webhook::Signed;
use crate::worker::{Worker, WorkerError};

/// The most bytes of an event: Lambda's own limit is 6 MB.
const EVENT_BYTES_MAX: usize = 8 << 20;

impl Worker {
    /// Serves invocations of an AWS Lambda function with an OS-only runtime. Requests through a function URL are verified with
    /// `DORMOUSE_WEBHOOK_SECRET`. Heartbeats need `DORMOUSE_URL` and `DORMOUSE_API_KEY`.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Environment`] outside Lambda.
    pub async fn run_lambda(self) -> Result<(), WorkerError> {
        let host = std::env::var("AWS_LAMBDA_RUNTIME_API")
            .map_err(|_| environment("AWS_LAMBDA_RUNTIME_API is not set: this is not Lambda"))?;
        let secret = std::env::var("DORMOUSE_WEBHOOK_SECRET").ok();
        let base = format!("http://{host}/2018-06-01/runtime/invocation");
        let runtime: Runtime = Client::builder(TokioExecutor::new()).build_http();
        loop {
            let event = request(&runtime, Method::GET, &format!("{base}/next"), "").await?;
            let id = event.headers().get("lambda-runtime-aws-request-id");
            let id = id
                .and_then(|id| id.to_str().ok())
                .ok_or_else(|| environment("an invocation has no id"))?
                .to_owned();
            let body = Limited::new(event.into_body(), EVENT_BYTES_MAX)
                .collect()
                .await;
            let body = body.map_err(|error| environment(&error.to_string()))?;
            let event = serde_json::from_slice(&body.to_bytes()).unwrap_or(Value::Null);
            let answer = self.answer_event(event, secret.as_deref()).await;
            let path = format!("{base}/{id}/response");
            request(&runtime, Method::POST, &path, &answer.to_string()).await?;
        }
    }

    /// The answer to an event of Lambda: of a `lambda` handler, or of a function URL.
    async fn answer_event(&self, event: Value, secret: Option<&str>) -> Value {
        if event.get("requestContext").is_some() {
            return self.answer_url(&event, secret).await;
        }
        match serde_json::from_value::<Task>(event) {
            Ok(task) => self.answer(task).await.unwrap_or_else(|| json!("later")),
            Err(_) => ActivityError::new("InvalidTask", "the event is no task of Dormouse")
                .for_good()
                .body(),
        }
    }

    async fn answer_url(&self, event: &Value, secret: Option<&str>) -> Value {
        let Some(secret) = secret else {
            return json!({ "statusCode": 500, "body": "set DORMOUSE_WEBHOOK_SECRET" });
        };
        let text = |at: &str| {
            event
                .pointer(at)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let body = text("/body");
        let body = match event.get("isBase64Encoded") {
            Some(Value::Bool(true)) => STANDARD.decode(body).unwrap_or_default(),
            Some(_) | None => body.as_bytes().to_vec(),
        };
        let signed = Signed {
            id: text("/headers/webhook-id"),
            timestamp: text("/headers/webhook-timestamp"),
            signatures: text("/headers/webhook-signature"),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_s = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(0));
        let (status, body) = self.answer_webhook(&[secret], signed, now_s, &body).await;
        let body = String::from_utf8_lossy(&body);
        let headers = json!({ "content-type": "application/json" });
        json!({ "statusCode": status, "headers": headers, "body": body })
    }
}

type Runtime = Client<HttpConnector, Full<Bytes>>;

fn environment(message: &str) -> WorkerError {
    WorkerError::Environment(message.to_owned())
}

async fn request(
    runtime: &Runtime,
    method: Method,
    uri: &str,
    body: &str,
) -> Result<Response<Incoming>, WorkerError> {
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
        .map_err(|error| environment(&error.to_string()))?;
    let response = runtime.request(request).await;
    response.map_err(|error| environment(&error.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        reason = "a test may fail"
    )]
    use super::*;
    use crate::handler::Reply;
    use crate::webhook::sign;

    #[tokio::test]
    async fn one_function_does_many_types_and_verifies_its_url() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let worker = Worker::new("q")
            .activity("Acme.Echo", |input: Value, _| async {
                Ok(Reply::outputs(input))
            })
            .activity("Acme.Later", |_: Value, _| async { Ok(Reply::Later) });
        let task = json!({ "taskId": "t", "type": "Acme.Echo", "input": { "x": 1 } });
        let ask = async |event: Value| worker.answer_event(event, Some(secret)).await;
        assert_eq!(ask(task.clone()).await, json!({ "outputs": { "x": 1 } }));
        assert_eq!(
            ask(json!({ "taskId": "t", "type": "Acme.Later" })).await,
            "later"
        );
        let other = ask(json!({ "taskId": "t", "type": "Acme.None" })).await;
        assert_eq!(other["error"]["type"], "UnknownActivity");
        assert_eq!(
            ask(json!({ "Records": [] })).await["error"]["type"],
            "InvalidTask"
        );
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let body = task.to_string();
        let mark = sign(secret, "m", i64::try_from(now).unwrap(), body.as_bytes()).unwrap();
        let mut event = json!({
            "requestContext": {}, "isBase64Encoded": true, "body": STANDARD.encode(body),
            "headers": { "webhook-id": "m", "webhook-timestamp": now.to_string(), "webhook-signature": mark },
        });
        assert_eq!(ask(event.clone()).await["statusCode"], 200);
        event["headers"]["webhook-id"] = json!("n");
        assert_eq!(ask(event).await["statusCode"], 401);
    }
}
