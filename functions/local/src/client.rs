//! Talking to a running server.

use dormouse_egress::{Egress, EgressConfig, Reach};
use dormouse_engine::call::{Answer, HttpRequest};
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;

/// A running server, by its address.
pub(crate) struct Client {
    url: String,
    key: Option<String>,
    egress: Egress,
}

impl Client {
    pub(crate) fn new(url: &str, key: Option<String>) -> Self {
        Self {
            url: url.trim_end_matches('/').to_owned(),
            key,
            // A person names the server; that may well be this machine.
            egress: Egress::new(EgressConfig::new(Reach::Anywhere)),
        }
    }

    /// Asks for something under `/elsa/api`.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.send("GET", path, None, None).await
    }

    /// Asks for something to be done.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send("POST", path, Some(body), None).await
    }

    /// Asks for something to be done, once under the key however often it is asked.
    pub(crate) async fn post_once(
        &self,
        path: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Result<Value, Failure> {
        self.send("POST", path, Some(body), key).await
    }

    /// Puts something where the path says.
    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send("PUT", path, Some(body), None).await
    }

    /// Asks for something to be removed.
    pub(crate) async fn delete(&self, path: &str) -> Result<Value, Failure> {
        self.send("DELETE", path, None, None).await
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Value, Failure> {
        let url = format!("{}/elsa/api{path}", self.url);
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        if let Some(key) = &self.key {
            headers.push(("authorization".to_owned(), format!("ApiKey {key}")));
        }
        let request = HttpRequest {
            method: method.to_owned(),
            url,
            headers,
            body: body.map(|b| b.to_string().into_bytes()),
            idempotency_key: key.unwrap_or_default().to_owned(),
            ..HttpRequest::default()
        };
        match self.egress.request(request).await {
            Answer::Http { status, body, .. } => self.read(status, &body),
            Answer::FailedToConnect { message } => Err(self.unreachable(&message)),
            Answer::TimedOut => Err(self.unreachable("it did not answer in time")),
            Answer::Refused { message } | Answer::NotStarted { message } => {
                Err(Failure::new(Exit::BadInput, "badUrl", message)
                    .help("give the server's address as in --url http://127.0.0.1:7070"))
            }
            Answer::Executed { .. } | Answer::Found => {
                Err(self.unreachable("it is no HTTP server"))
            }
        }
    }

    fn read(&self, status: u16, body: &[u8]) -> Result<Value, Failure> {
        let value = if body.is_empty() {
            Ok(Value::Null)
        } else {
            serde_json::from_slice(body)
        };
        match value {
            Ok(value) if (200..300).contains(&status) => Ok(value),
            Ok(problem) if status == 401 => Err(Failure::problem(status, &problem).help(
                "give an API key with --api-key or DORMOUSE_API_KEY; a server on this machine keeps one in the file cli-key of its data folder, which DORMOUSE_DATA names",
            )),
            // What stands before the server, and got no answer from it: API Gateway while a function is replaced.
            Ok(other) if status >= 500 && other.get("code").is_none() => {
                Err(self.unreachable(&format!("a gateway answered {status} for it")))
            }
            Ok(problem) => Err(Failure::problem(status, &problem)),
            Err(_) if status >= 502 => {
                Err(self.unreachable(&format!("a gateway answered {status} for it")))
            }
            Err(_) => {
                let message = format!("{} answered {status} and no JSON", self.url);
                Err(
                    Failure::new(Exit::of_status(status.max(300)), "noDormouse", message)
                        .help("is that a Dormouse server? Name it with --url or DORMOUSE_URL"),
                )
            }
        }
    }

    fn unreachable(&self, reason: &str) -> Failure {
        let message = format!("no server answers at {}: {reason}", self.url);
        Failure::new(Exit::Unreachable, "unreachable", message)
            .help("start one with `dormouse serve`, or name another with --url or DORMOUSE_URL")
    }
}

/// A text as one segment of a path.
pub(crate) fn segment(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_one_segment_whatever_is_in_it() {
        assert_eq!(segment("a/../b ü?"), "a%2F..%2Fb%20%C3%BC%3F");
    }
}
