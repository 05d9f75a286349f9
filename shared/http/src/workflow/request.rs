//! A request to an HTTP workflow, and what its HttpEndpoint activity receives of it.

use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use dormouse_runtime::query::BookmarkRow;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::body::Body;
use crate::query::{Query, percent};
use crate::refusal::Refusal;

/// A request to an HTTP workflow.
pub(super) struct WorkflowRequest {
    /// In lower case, as triggers are hashed.
    pub(super) method: String,
    /// Below the base path, decoded, with one leading slash.
    pub(super) path: String,
    /// The values of the template's parameters.
    pub(super) route_data: Map<String, Value>,
    /// The instance that it is for, or that it is to start.
    pub(super) instance_id: Option<String>,
    /// The correlation id of the instances that it is for, or of the one that it starts.
    pub(super) correlation_id: Option<String>,
    pub(super) headers: HeaderMap,
    query: Query,
    body: Body,
}

impl WorkflowRequest {
    /// Reads a request, its body by counted bytes.
    pub(super) async fn read(app: &App, request: Request, base: &str) -> Result<Self, Refusal> {
        let full = request.uri().path();
        let below = full
            .strip_prefix(base)
            .unwrap_or(full)
            .trim_end_matches('/');
        let path = if below.is_empty() { "/" } else { below };
        if path.contains("//") {
            return Err(Refusal::NoWorkflowListens {
                path: path.to_owned(),
            });
        }
        let path = percent(path);
        let query = Query::parse(request.uri().query().unwrap_or_default());
        let method = request.method().as_str().to_ascii_lowercase();
        let headers = request.headers().clone();
        let body = Body::from_request(request, app).await?;
        let named = |header: &str, parameter: &str| {
            let value = headers.get(header).and_then(|v| v.to_str().ok());
            value.or(query.text(parameter)).map(str::to_owned)
        };
        Ok(Self {
            method,
            path,
            route_data: Map::new(),
            instance_id: named("x-workflow-instance-id", "workflowinstanceid"),
            correlation_id: named("x-correlation-id", "correlationid"),
            headers,
            query,
            body,
        })
    }

    /// Whether a bookmark is one that it may resume.
    pub(super) fn is_for(&self, bookmark: &BookmarkRow) -> bool {
        let correlation = bookmark.found_by.correlation_id.as_ref();
        self.instance_id
            .as_ref()
            .is_none_or(|id| *id == bookmark.instance_id)
            && self
                .correlation_id
                .as_ref()
                .is_none_or(|id| Some(id) == correlation)
    }

    /// What the activity receives.
    pub(super) fn input(&self) -> Map<String, Value> {
        let header = |name: &str| self.headers.get(name).and_then(|v| v.to_str().ok());
        let bytes = &self.body.0;
        let headers = self.headers.iter().map(|(name, value)| {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), text)
        });
        let context = json!({
            "method": self.method,
            "path": self.path,
            "routeData": self.route_data,
            "query": gathered(self.query.pairs().iter().cloned()),
            "headers": gathered(headers),
            "contentType": header("content-type"),
            "contentLength": bytes.len(),
            "body": (!bytes.is_empty()).then(|| base64(bytes)),
        });
        let mut input = Map::new();
        input.insert("HttpContext".into(), context);
        input.insert("Path".into(), self.path.as_str().into());
        input
    }
}

/// Values by name; a name that comes more than once has a list.
fn gathered(pairs: impl Iterator<Item = (String, String)>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in pairs {
        match out.get_mut(&name) {
            None => {
                out.insert(name, value.into());
            }
            Some(Value::Array(list)) => list.push(value.into()),
            Some(first) => *first = json!([first.take(), value]),
        }
    }
    out
}

/// Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for place in 0..4_usize {
            let digit = group >> (18 - 6 * place) & 63;
            let digit = DIGITS.get(digit as usize).copied().unwrap_or(b'=');
            let is_padding = place > chunk.len();
            out.push(char::from(if is_padding { b'=' } else { digit }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_base64_as_everybody_reads_it() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn a_name_that_comes_twice_has_a_list() {
        let pairs = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "4")];
        let pairs = pairs.map(|(n, v)| (n.to_owned(), v.to_owned()));
        let expected = json!({ "a": ["1", "3", "4"], "b": "2" });
        assert_eq!(Value::Object(gathered(pairs.into_iter())), expected);
    }
}
