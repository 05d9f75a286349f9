//! Bursts as spans of OpenTelemetry, sent to a collector as JSON ("OTLP Specification", OTLP/HTTP).
//!
//! No context is carried anywhere: the trace of an instance and the span of a commit are digests of their names, so
//! whoever knows that a message is the effect of a commit knows its span too. All of an instance is one trace; its
//! first commit is the root and every later one a child of it, linked to the commit of another instance that caused
//! it. Spans are told of at the end of a burst's commit, kept until they are sent, and lost with the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::instance::SubStatus;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::port::{Happened, HttpCaller, Observer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// How many spans are kept at most until they are sent; further ones are counted and dropped.
const SPANS_MAX: usize = 4_096;

/// How long a collector may take, in ms.
const SEND_MS: u64 = 2_000;

/// Collects spans and sends them.
pub struct Spans {
    collector: Collector,
    caller: Arc<dyn HttpCaller>,
    waiting: Mutex<Waiting>,
}

/// Where spans are sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    /// The address of its OTLP over HTTP, like `http://localhost:4318`; `/v1/traces` is added to it.
    pub endpoint: String,
    /// Headers as OpenTelemetry writes them: `name=value,name=value`.
    pub headers: String,
    /// What this process calls itself.
    pub service: String,
}

#[derive(Default)]
struct Waiting {
    spans: Vec<Value>,
    lost: u64,
}

impl Spans {
    /// Spans for a collector, which is reached through `caller`.
    #[must_use]
    pub fn new(collector: Collector, caller: Arc<dyn HttpCaller>) -> Self {
        Self {
            collector,
            caller,
            waiting: Mutex::default(),
        }
    }

    /// Sends what waits. What cannot be sent is lost: spans are for looking at.
    pub async fn send(&self) {
        let Waiting { spans, lost } = std::mem::take(&mut *self.lock());
        if lost > 0 {
            tracing::warn!(lost, "there were more spans than could be sent");
        }
        if spans.is_empty() {
            return;
        }
        let count = spans.len();
        let answer = self.caller.call(&self.request(spans), SEND_MS).await;
        if !matches!(answer, Answer::Http { status, .. } if (200..300).contains(&status)) {
            let answer = said(&answer);
            tracing::warn!(count, answer, "the collector did not take the spans");
        }
    }

    fn request(&self, spans: Vec<Value>) -> HttpRequest {
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": [attribute("service.name", &self.collector.service)] },
            "scopeSpans": [{
                "scope": { "name": "dormouse", "version": env!("CARGO_PKG_VERSION") },
                "spans": spans,
            }],
        }] });
        let named = self.collector.headers.split(',');
        let named = named.filter_map(|header| header.split_once('='));
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(named.map(|(name, value)| (name.trim().into(), value.trim().into())));
        HttpRequest {
            method: "POST".into(),
            url: format!(
                "{}/v1/traces",
                self.collector.endpoint.trim_end_matches('/')
            ),
            headers,
            body: Some(body.to_string().into_bytes()),
            timeout_ms: SEND_MS,
            ..HttpRequest::default()
        }
    }

    /// A thread that died holding the lock has left whole spans only.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn said(answer: &Answer) -> String {
    match answer {
        Answer::Http { status, .. } => format!("status {status}"),
        Answer::FailedToConnect { message } | Answer::Refused { message } => message.clone(),
        Answer::TimedOut => "no answer in time".to_owned(),
        Answer::Executed { .. } | Answer::Found | Answer::NotStarted { .. } => {
            "no answer of HTTP".to_owned()
        }
    }
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: u64) -> Value {
    // Numbers of 64 bits are texts in the JSON of protocol buffers.
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

fn nanoseconds(at: Timestamp) -> String {
    format!("{}000000", at.0.max(0))
}

/// The trace of an instance.
fn trace_id(tenant: &str, instance: &str) -> String {
    digest(&[tenant, instance], 16)
}

/// The span of a commit.
fn span_id(tenant: &str, instance: &str, commit: u64) -> String {
    digest(&[tenant, instance, &commit.to_string()], 8)
}

/// So many bytes of a digest over parts that have no line breaks, in hexadecimal digits.
fn digest(parts: &[&str], bytes: usize) -> String {
    let digest = Sha256::digest(parts.join("\n").as_bytes());
    let digits = digest.iter().take(bytes);
    digits.map(|byte| format!("{byte:02x}")).collect()
}

/// The commit that a message is an effect of: `instance/commit/place`.
fn effect_of(message: &str) -> Option<(&str, u64)> {
    let (rest, _place) = message.rsplit_once('/')?;
    let (instance, commit) = rest.rsplit_once('/')?;
    Some((instance, commit.parse().ok()?))
}

fn span(happened: &Happened<'_>) -> Value {
    let (tenant, instance) = (happened.tenant.as_str(), happened.instance);
    let id = instance.id.as_str();
    let mut attributes = vec![
        attribute("dormouse.tenant", tenant),
        attribute("dormouse.instance", id),
        attribute("dormouse.definition", &instance.definition_id),
        attribute("dormouse.sub_status", instance.sub_status.as_str()),
        number("dormouse.definition_version", instance.version.into()),
        number("dormouse.commit", happened.commit),
        number("dormouse.journal_lines", happened.journal.len() as u64),
    ];
    let mut links = Vec::new();
    if let Some(cause) = happened.cause {
        attributes.push(attribute("dormouse.cause", cause));
        let other = effect_of(cause).filter(|(other, _)| *other != id);
        if let Some((other, commit)) = other {
            links.push(json!({
                "traceId": trace_id(tenant, other),
                "spanId": span_id(tenant, other, commit),
            }));
        }
    }
    let mut span = json!({
        "traceId": trace_id(tenant, id),
        "spanId": span_id(tenant, id, happened.commit),
        "name": happened.graph.name.as_deref().unwrap_or(&instance.definition_id),
        "kind": 1,
        "startTimeUnixNano": nanoseconds(happened.since.min(happened.at)),
        "endTimeUnixNano": nanoseconds(happened.at),
        "attributes": attributes,
        "links": links,
        "status": { "code": if instance.sub_status == SubStatus::Faulted { 2 } else { 0 } },
    });
    if happened.commit > 1
        && let Value::Object(fields) = &mut span
    {
        fields.insert("parentSpanId".into(), span_id(tenant, id, 1).into());
    }
    span
}

impl Observer for Spans {
    fn happened(&self, happened: Happened<'_>) {
        let span = span(&happened);
        let mut waiting = self.lock();
        if waiting.spans.len() < SPANS_MAX {
            waiting.spans.push(span);
        } else {
            waiting.lost += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_commit_that_it_is_an_effect_of() {
        assert_eq!(effect_of("order-1/7/0"), Some(("order-1", 7)));
        assert_eq!(effect_of("shop/order-1/12/3"), Some(("shop/order-1", 12)));
        for other in ["8f14e45f", "timer/x", "a/b/c", ""] {
            assert_eq!(effect_of(other), None, "{other}");
        }
    }

    #[test]
    fn ids_are_as_long_as_opentelemetry_wants_them_and_differ() {
        let (trace, span) = (trace_id("acme", "i"), span_id("acme", "i", 1));
        assert_eq!((trace.len(), span.len()), (32, 16));
        assert_eq!(trace, trace_id("acme", "i"));
        assert_ne!(trace, trace_id("other", "i"));
        assert_ne!(span, span_id("acme", "i", 2));
    }
}
