//! Refusals as problem JSON (RFC 9457).

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dormouse_engine::graph::Problem;
use serde_json::{Map, Value, json};

use crate::refusal::{Facts, Refusal};

/// Problems as Studio and the CLI read them: messages by path, and all facts beside.
fn problems_body(problems: &[Problem], body: &mut Map<String, Value>) {
    let mut errors = Map::new();
    for problem in problems.iter().filter(|p| p.is_error) {
        let at = errors.entry(&problem.path).or_insert_with(|| json!([]));
        if let Value::Array(list) = at {
            list.push(problem.message.clone().into());
        }
    }
    body.insert("errors".into(), errors.into());
    body.insert("problems".into(), json!(problems));
}

/// The members of Elsa's own errors, beside ours.
fn elsas_body(refusal: &Refusal, detail: &str, body: &mut Map<String, Value>) {
    let errors = if let Refusal::NotJson { reason } | Refusal::WrongShape { reason } = refusal {
        json!({ "serializerErrors": [reason] })
    } else if let Refusal::BadParameter { name, value, kind } = refusal {
        json!({ *name: [format!("Value [{value}] is not valid for a [{kind}] property!")] })
    } else if let Refusal::Invalid(problems) = refusal {
        let errors = problems.iter();
        let errors = errors.map(|(name, text)| (name.to_string(), json!([text])));
        Value::Object(errors.collect())
    } else if matches!(refusal, Refusal::InvalidToken) {
        json!({ "generalErrors": ["Invalid token."] })
    } else {
        json!({ "generalErrors": [detail] })
    };
    body.insert("statusCode".into(), StatusCode::BAD_REQUEST.as_u16().into());
    body.insert("message".into(), "One or more errors occurred!".into());
    body.insert("errors".into(), errors);
}

/// Marks an answer that Elsa gives without a body.
#[derive(Debug, Clone, Copy)]
struct Silent;

/// Whether a client that names these types takes problems besides JSON.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT);
    let accept = accept
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or("*/*");
    let takes = ["application/problem+json", "*/*", "application/*"];
    takes.iter().any(|kind| accept.contains(kind))
}

/// Takes the problem from an answer that Elsa gives without a body.
pub(crate) fn fall_silent(response: &mut Response) {
    if response.extensions().get::<Silent>().is_some() {
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::empty();
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Facts {
            status,
            code,
            detail,
        } = self.facts();
        if status.is_server_error() && status != StatusCode::SERVICE_UNAVAILABLE {
            tracing::error!(code, refusal = ?self, "a request failed");
        }
        let title = status.canonical_reason().unwrap_or("Refused");
        let mut body = Map::new();
        body.insert("type".into(), format!("urn:dormouse:problem:{code}").into());
        body.insert("title".into(), title.into());
        body.insert("status".into(), status.as_u16().into());
        body.insert("code".into(), code.into());
        if matches!(self, Self::NoSuchRole { .. }) {
            body.insert("error".into(), "not_found".into());
            body.insert("message".into(), "The role was not found.".into());
        }
        if status == StatusCode::BAD_REQUEST {
            elsas_body(&self, &detail, &mut body);
        }
        body.insert("detail".into(), detail.into());
        if let Self::InvalidDefinition(problems) = &self {
            problems_body(problems, &mut body);
        }
        let mut response = (status, Json(Value::Object(body))).into_response();
        let is_silent = matches!(status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND);
        if is_silent && !matches!(self, Self::NoSuchRole { .. }) {
            response.extensions_mut().insert(Silent);
        }
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        let after = match status {
            // It ends when somebody ends it.
            StatusCode::SERVICE_UNAVAILABLE if code == "paused" => Some("30"),
            StatusCode::SERVICE_UNAVAILABLE => Some("1"),
            StatusCode::TOO_MANY_REQUESTS => Some("60"),
            StatusCode::UNAUTHORIZED => {
                let scheme = HeaderValue::from_static("Bearer");
                headers.insert(header::WWW_AUTHENTICATE, scheme);
                None
            }
            _ => (code == "inProgress").then_some("1"),
        };
        if let Some(seconds) = after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(seconds));
        }
        response
    }
}
