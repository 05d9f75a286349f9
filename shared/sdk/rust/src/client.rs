//! Requests to the server. Nothing here knows what a task means.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::{Value, json};

use crate::context::Task;

/// The most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 16 << 20;
const TIMEOUT: Duration = Duration::from_secs(30);
const RETRYABLE: [u16; 3] = [408, 425, 429];
const RETRYABLE_CODES: [&str; 2] = ["bookmarkNotYetOpen", "inProgress"];
const GONE_CODES: [&str; 5] = [
    "noSuchTask",
    "noSuchInstance",
    "bookmarkGone",
    "instanceEnded",
    "instanceDeleted",
];

/// A request without a useful answer.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The settings make no request.
    #[error("{0}")]
    Settings(&'static str),
    /// There was no answer.
    #[error("no answer from the server: {0}")]
    Unreachable(String),
    /// The server rejected it.
    #[error("{message} (status {status})")]
    Rejected {
        /// The status.
        status: u16,
        /// The stable name of the reason; empty where there is none.
        code: String,
        /// A sentence.
        message: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
}

impl RequestError {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Settings(_) => false,
            Self::Unreachable(_) => true,
            Self::Rejected { status, code, .. } => {
                *status >= 500
                    || RETRYABLE.contains(status)
                    || RETRYABLE_CODES.contains(&code.as_str())
            }
        }
    }

    /// Whether the task does not exist any more: answered, taken away, or its instance ended.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Rejected { code, .. } if GONE_CODES.contains(&code.as_str()))
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Rejected { retry_after, .. } => *retry_after,
            Self::Settings(_) | Self::Unreachable(_) => None,
        }
    }
}

type Connections = hyper_util::client::legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The task routes of a server. A clone uses the same connections.
#[derive(Debug, Clone)]
pub struct Client {
    connections: Arc<Connections>,
    base: String,
    key: Option<HeaderValue>,
}

impl Client {
    /// A client of the server at an address such as `http://127.0.0.1:7070`.
    ///
    /// # Errors
    ///
    /// [`RequestError::Settings`] if the address or the key cannot be sent.
    pub fn new(url: &str, api_key: Option<&str>) -> Result<Self, RequestError> {
        let base = url.trim_end_matches('/');
        let uri: Option<Uri> = base.parse().ok();
        let scheme = uri.as_ref().and_then(Uri::scheme_str);
        if !matches!(scheme, Some("http" | "https")) {
            return Err(RequestError::Settings(
                "the server's address is an http or https URL, such as http://127.0.0.1:7070",
            ));
        }
        let key = api_key.map(|key| HeaderValue::try_from(format!("ApiKey {key}")));
        let mut key = key.transpose().map_err(|_| {
            RequestError::Settings("the API key has characters that no header can have")
        })?;
        if let Some(key) = &mut key {
            key.set_sensitive(true);
        }
        Ok(Self {
            connections: Arc::new(connections()?),
            base: format!("{base}/elsa/api"),
            key,
        })
    }

    /// A client of `DORMOUSE_URL` [default: <http://127.0.0.1:7070>] with the key `DORMOUSE_API_KEY`, else the key of the local
    /// server's data folder (`DORMOUSE_DATA` [default: ./dormouse-data]).
    ///
    /// # Errors
    ///
    /// [`RequestError::Settings`]
    pub fn from_env() -> Result<Self, RequestError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let url = variable("DORMOUSE_URL").unwrap_or_else(|| "http://127.0.0.1:7070".to_owned());
        let key = variable("DORMOUSE_API_KEY").or_else(|| {
            let data = variable("DORMOUSE_DATA").unwrap_or_else(|| "dormouse-data".to_owned());
            let key = std::fs::read_to_string(std::path::Path::new(&data).join("cli-key")).ok()?;
            Some(key.trim().to_owned()).filter(|key| !key.is_empty())
        });
        Self::new(&url, key.as_deref())
    }

    /// Leases up to `max` tasks. Waits up to `wait_ms` for the first one.
    ///
    /// # Errors
    ///
    /// [`RequestError`]
    pub async fn poll(
        &self,
        queue: &str,
        types: &[String],
        max: usize,
        wait_ms: u64,
        worker_id: &str,
    ) -> Result<Vec<Task>, RequestError> {
        let body = json!({
            "queue": queue, "types": types, "max": max, "waitMs": wait_ms, "workerId": worker_id,
        });
        let timeout = Duration::from_millis(wait_ms) + TIMEOUT;
        let mut answer = self.post("/tasks/poll", &body, timeout).await?;
        let tasks = answer.get_mut("tasks").map(Value::take);
        let tasks = tasks.map(serde_json::from_value).transpose();
        match tasks {
            Ok(tasks) => Ok(tasks.unwrap_or_default()),
            Err(error) => Err(RequestError::Unreachable(format!(
                "the answer cannot be read: {error}"
            ))),
        }
    }

    /// Sends `complete`, `fail` or `heartbeat` for a task, once.
    ///
    /// # Errors
    ///
    /// [`RequestError`]
    pub async fn tell(
        &self,
        task_id: &str,
        verb: &str,
        body: &Value,
    ) -> Result<Value, RequestError> {
        self.post(&format!("/tasks/{task_id}/{verb}"), body, TIMEOUT)
            .await
    }

    async fn post(
        &self,
        path: &str,
        body: &Value,
        timeout: Duration,
    ) -> Result<Value, RequestError> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(format!("{}{path}", self.base))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key);
        }
        let request = request
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|_| RequestError::Settings("the task's id cannot stand in an address"))?;
        match tokio::time::timeout(timeout, self.exchange(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(RequestError::Unreachable("it took too long".to_owned())),
        }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Value, RequestError> {
        let response = self.connections.request(request).await.map_err(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            RequestError::Unreachable(cause.unwrap_or_else(|| error.to_string()))
        })?;
        let status = response.status();
        let seconds = response.headers().get(RETRY_AFTER);
        let seconds = seconds.and_then(|value| value.to_str().ok()?.parse().ok());
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX)
            .collect()
            .await
            .map_err(|error| RequestError::Unreachable(error.to_string()))?
            .to_bytes();
        let answer: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        if status.is_success() {
            return Ok(answer);
        }
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let message = text("detail").or_else(|| text("title"));
        Err(RequestError::Rejected {
            status: status.as_u16(),
            code: text("code").unwrap_or_default(),
            message: message.unwrap_or_else(|| "the server did not say why".to_owned()),
            retry_after: seconds.map(Duration::from_secs),
        })
    }
}

fn connections() -> Result<Connections, RequestError> {
    let mut roots = rustls::RootCertStore::empty();
    // A certificate of the system that cannot be read is no reason to trust fewer others.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = rustls::crypto::ring::default_provider();
    let config = rustls::ClientConfig::builder_with_provider(provider.into())
        .with_protocol_versions(rustls::DEFAULT_VERSIONS)
        .map_err(|_| RequestError::Settings("there are no cipher suites for TLS"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut plain = HttpConnector::new();
    plain.enforce_http(false);
    plain.set_nodelay(true);
    plain.set_connect_timeout(Some(TIMEOUT));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_http1()
        .wrap_connector(plain);
    let builder = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .clone();
    Ok(builder.build(connector))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(status: u16, code: &str) -> RequestError {
        RequestError::Rejected {
            status,
            code: code.to_owned(),
            message: String::new(),
            retry_after: None,
        }
    }

    #[test]
    fn only_answers_of_the_server_say_that_a_task_is_gone() {
        assert!(rejected(409, "bookmarkGone").is_gone());
        assert!(rejected(409, "bookmarkNotYetOpen").is_retryable());
        assert!(rejected(503, "").is_retryable());
        let wrong_address = rejected(404, "noSuchRoute");
        assert!(!wrong_address.is_gone() && !wrong_address.is_retryable());
        assert!(RequestError::Unreachable(String::new()).is_retryable());
    }

    #[test]
    fn settings_that_make_no_request_are_told_at_once() {
        assert!(Client::new("ftp://nowhere", None).is_err());
        assert!(Client::new("http://127.0.0.1:1", Some("a\nb")).is_err());
        assert!(Client::new("https://example.org/base/", Some("key")).is_ok());
    }
}
