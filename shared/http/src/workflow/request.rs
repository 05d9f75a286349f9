//! A request to an HTTP workflow, and what its HttpEndpoint activity receives of it.

use std::collections::BTreeMap;

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_engine::http::{Arrived, HTTP_CONTEXT, Rules, header_name};
use dormouse_runtime::query::{BookmarkRow, Waiting};
use serde_json::{Map, Value, json};

use super::answer;
use crate::app::App;
use crate::body::Body;
use crate::gate;
use crate::query::{Query, decode, percent};
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
    /// The query's names and values as they are written.
    written: Vec<(String, String)>,
    /// `None`: it is larger than the server takes, or not read yet.
    body: Option<Body>,
    body_bytes_max: usize,
}

impl WorkflowRequest {
    /// Reads all of a request but its body.
    pub(super) fn head(app: &App, request: &Request, base: &str) -> Result<Self, Refusal> {
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
        let mut headers = request.headers().clone();
        gate::drop_own_credential(&mut headers);
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
            written: pairs(request.uri().query().unwrap_or_default()),
            body: None,
            body_bytes_max: app.config().body_bytes_max,
        })
    }

    /// Reads the body by counted bytes.
    pub(super) async fn read_body(&mut self, app: &App, request: Request) -> Result<(), Refusal> {
        self.body = match Body::from_request(request, app).await {
            Ok(body) => Some(body),
            // An endpoint may have an outcome for it.
            Err(Refusal::BodyTooLarge { .. }) => None,
            Err(refusal) => return Err(refusal),
        };
        Ok(())
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
        let mut input = Map::new();
        input.insert(HTTP_CONTEXT.into(), self.context());
        input.insert("Path".into(), self.path.as_str().into());
        input
    }

    fn context(&self) -> Value {
        let header = |name: &str| self.headers.get(name).and_then(|v| v.to_str().ok());
        let bytes = self.body.as_ref().map(|Body(bytes)| bytes);
        let headers = self.headers.iter().map(|(name, value)| {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (header_name(name.as_str()).to_owned(), text)
        });
        json!({
            "method": self.method,
            "path": self.path,
            "routeData": self.route_data,
            "query": gathered(self.written.iter().cloned()),
            "headers": gathered(headers),
            "contentType": header("content-type"),
            "contentLength": bytes.map_or(self.body_bytes_max + 1, |b| b.len()),
            "body": bytes.filter(|b| !b.is_empty()).map(|b| STANDARD.encode(b)),
            "isTooLarge": bytes.is_none(),
        })
    }

    /// Why its sender may not use an endpoint, if so.
    pub(super) fn endpoint(&self, app: &App, rules: &Rules) -> Option<Refusal> {
        // A method that cannot be read is one that changes something.
        let method = self.method.to_ascii_uppercase().parse();
        let method = method.unwrap_or(Method::POST);
        gate::endpoint(app, rules, &method, &self.headers)
    }

    /// What is answered to the request without starting or resuming anything, because the endpoint that keeps
    /// `payload` does not take such a request and has no outcome for it.
    pub(super) fn turned_away(&self, app: &App, payload: &[u8]) -> Option<Response> {
        let rules = Rules::of(&Waiting::payload(payload));
        if let Some(refusal) = self.endpoint(app, &rules) {
            return Some(refusal.into_response());
        }
        let arrived = Arrived::read(&self.context())?;
        if let Some(answer) = rules.refusal(&arrived) {
            return Some(answer::response(answer));
        }
        let is_dealt_with = rules.check(&arrived).is_some();
        (self.body.is_none() && !is_dealt_with).then(|| {
            let limit = self.body_bytes_max;
            Refusal::BodyTooLarge { limit }.into_response()
        })
    }
}

/// The names and values of a query string, names in their case.
fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(n, v)| (decode(n), decode(v))).collect()
}

/// Values by name, the case of its first counts; a name that comes more than once has a list.
fn gathered(pairs: impl Iterator<Item = (String, String)>) -> Map<String, Value> {
    let mut out: Map<String, Value> = Map::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in pairs {
        let name = names.entry(name.to_lowercase()).or_insert(name).clone();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_comes_twice_has_a_list() {
        let pairs = pairs("A=1&b=2&a=3&a=4&%C3%BC=%26");
        let expected = json!({ "A": ["1", "3", "4"], "b": "2", "ü": "&" });
        assert_eq!(Value::Object(gathered(pairs.into_iter())), expected);
    }
}
