//! What the activities that send HTTP requests have in common: the request, its repetitions, its answer.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Descriptor;
use super::write_http_response::headers;
use crate::call::{Answer, HttpRequest, Request};
use crate::definition::data_type::DataType;
use crate::http::{File, Outgoing, content, header_name, text};
use crate::instance::{Bookmark, Memory, Retry, Wait};
use crate::journal::Event;
use crate::resilience::Resilience;
use crate::step::{Cx, Fault, Then};

/// What became of a call.
pub(super) enum Reply {
    /// It was answered.
    Response(Response),
    /// Nobody was there, or the connection broke.
    FailedToConnect,
    /// There was no answer in time.
    TimedOut,
    /// It will be made again.
    Retrying,
}

/// An answer.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, Vec<String>>,
    pub(super) body: Vec<u8>,
    /// Where it came from.
    pub(super) url: String,
}

/// The inputs that say what is sent. Elsa names those of the body differently for downloads.
pub(super) fn inputs(descriptor: Descriptor, content: &str, content_type: &str) -> Descriptor {
    descriptor
        .input("url", "Uri", "Address.")
        .input("method", "String", "HTTP method.")
        .default_value("GET")
        .options(&["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
        .input(content, "Object", "The body.")
        .input(content_type, "String", "Content type of the body.")
        .input(
            "authorization",
            "String",
            "Authorization header. Never logged.",
        )
        .sensitive()
        .input(
            "disableAuthorizationHeaderValidation",
            "Boolean",
            "Accepted and ignored: the header is sent as it is.",
        )
        .default_value(false)
        .input("requestHeaders", "HttpHeaders", "Additional headers.")
        .default_value(Value::Object(Map::new()))
        .input(
            "enableResiliency",
            "Boolean",
            "Obsolete: retries up to eight times. Use a resilience strategy.",
        )
        .default_value(false)
}

/// Sends what the inputs say.
pub(super) fn send(cx: &mut Cx<'_, '_>, content: &str, content_type: &str) -> Result<Then, Fault> {
    let url = cx
        .text("url")?
        .map(|url| url.trim().to_owned())
        .filter(|url| !url.is_empty());
    let url = url.ok_or_else(|| Fault::new("InvalidInput", "the HTTP request has no URL"))?;
    let method = cx
        .text("method")?
        .unwrap_or_default()
        .trim()
        .to_ascii_uppercase();
    let given_type = cx.text(content_type)?;
    let outgoing = Outgoing::of(&cx.input(content)?, given_type.as_deref());
    let mut headers = headers(cx, "requestHeaders")?;
    let mut add = |name: &str, value: String| {
        if !value.is_empty() && !headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name)) {
            headers.push((name.to_owned(), value));
        }
    };
    add(
        "authorization",
        cx.text("authorization")?.unwrap_or_default(),
    );
    let has_body = !outgoing.body.is_empty();
    if has_body {
        add("content-type", outgoing.content_type);
    }
    let serial = cx.serial();
    // The others are the same however often they are made (RFC 9110, 9.2.2).
    let idempotency_key = match method.as_str() {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE" => String::new(),
        _ => format!("{}/{serial}", cx.instance_id()),
    };
    let request = HttpRequest {
        method,
        url,
        headers,
        body: has_body.then_some(outgoing.body),
        timeout_ms: 0,
        idempotency_key,
    };
    cx.call(Request::Http(request));
    Ok(Then::Wait)
}

/// Takes the answer of a call, or puts the call off to another attempt.
pub(super) fn settle(
    cx: &mut Cx<'_, '_>,
    bookmark: &Bookmark,
    answer: Answer,
    resilience: &Resilience,
) -> Result<Reply, Fault> {
    let Wait::Call(request) = &bookmark.wait else {
        return Ok(Reply::Retrying);
    };
    let Request::Http(request) = request.as_ref() else {
        return Ok(Reply::Retrying);
    };
    let attempts = match cx.memory() {
        Memory::Retry(retry) => retry.attempts,
        Memory::None | Memory::Count(_) | Memory::Flow(_) | Memory::Json(_) => 0,
    };
    if let Some(strategy) = resilience.strategy(cx)? {
        let random = cx.random();
        if let Some(pause_ms) = strategy.pause_ms(attempts, &answer, random) {
            try_later(cx, request, attempts + 1, pause_ms, &answer);
            return Ok(Reply::Retrying);
        }
    }
    let failed = match &answer {
        Answer::FailedToConnect { message } => Some(message.as_str()),
        Answer::TimedOut => Some("no answer in time"),
        Answer::Http { .. }
        | Answer::Refused { .. }
        | Answer::Executed { .. }
        | Answer::Found
        | Answer::NotStarted { .. } => None,
    };
    if let Some(message) = failed {
        cx.log(Event::Error, json!({ "message": message }));
    }
    match answer {
        Answer::Http {
            status,
            headers,
            body,
        } => Ok(Reply::Response(Response {
            status,
            headers,
            body,
            url: request.url.clone(),
        })),
        Answer::FailedToConnect { .. } => Ok(Reply::FailedToConnect),
        Answer::TimedOut => Ok(Reply::TimedOut),
        Answer::Refused { message } => Err(Fault::new("HttpRequestRefused", message)),
        other @ (Answer::Executed { .. } | Answer::Found | Answer::NotStarted { .. }) => {
            Err(Fault::new(
                "UnexpectedAnswer",
                format!("the HTTP request was answered by {other:?}"),
            ))
        }
    }
}

fn try_later(
    cx: &mut Cx<'_, '_>,
    request: &HttpRequest,
    attempt: u32,
    pause_ms: i64,
    answer: &Answer,
) {
    let due = cx.now().plus_ms(pause_ms);
    let details = match answer {
        Answer::Http { status, .. } => json!({ "statusCode": status }),
        Answer::FailedToConnect { message } => json!({ "message": message }),
        Answer::TimedOut => json!({ "message": "no answer in time" }),
        Answer::Refused { .. }
        | Answer::Executed { .. }
        | Answer::Found
        | Answer::NotStarted { .. } => Value::Null,
    };
    let delay = crate::time::format_duration(pause_ms);
    cx.log(
        Event::Retrying,
        json!({ "attemptNumber": attempt, "retryDelay": delay, "details": details }),
    );
    *cx.memory() = Memory::Retry(Box::new(Retry {
        attempts: attempt,
        request: request.clone(),
    }));
    cx.wait_until(
        due,
        json!({ "ResumeAt": due.to_string(), "AttemptNumber": attempt }),
    );
}

/// Makes the call again whose pause is over: the same request, under the same key.
pub(super) fn send_again(cx: &mut Cx<'_, '_>) -> Then {
    let request = match cx.memory() {
        Memory::Retry(retry) => retry.request.clone(),
        Memory::None | Memory::Count(_) | Memory::Flow(_) | Memory::Json(_) => return Then::DONE,
    };
    cx.call(Request::Http(request));
    Then::Wait
}

impl Response {
    fn header(&self, name: &str) -> &str {
        let values = self.headers.get(name);
        values.and_then(|v| v.first()).map_or("", String::as_str)
    }

    /// What the body is, in lower case and without parameters.
    fn media_type(&self) -> String {
        let head = self
            .header("content-type")
            .split(';')
            .next()
            .unwrap_or_default();
        head.trim().to_ascii_lowercase()
    }

    /// A name for the body as a file: the one the answer gives, or the end of the URL.
    fn file_name(&self) -> String {
        let disposition = self.header("content-disposition");
        let given = disposition
            .split(';')
            .filter_map(|part| part.trim().split_once('='))
            .find(|(name, _)| name.eq_ignore_ascii_case("filename"));
        let given = given
            .map(|(_, value)| value.trim().trim_matches('"'))
            .filter(|name| !name.is_empty());
        let path = self.url.split(['?', '#']).next().unwrap_or_default();
        let path = path.split_once("://").map_or(path, |(_, rest)| rest);
        let last = path
            .split('/')
            .skip(1)
            .last()
            .filter(|name| !name.is_empty());
        given.or(last).unwrap_or("file").to_owned()
    }

    /// The headers as a value: one as text, several of a name as a list.
    pub(super) fn headers_value(&self, is_wanted: impl Fn(&str) -> bool) -> Value {
        let headers =
            self.headers
                .iter()
                .filter(|(name, _)| is_wanted(name))
                .map(|(name, values)| {
                    let value = match values.as_slice() {
                        [single] => json!(single),
                        several => json!(several),
                    };
                    (header_name(name).to_owned(), value)
                });
        Value::Object(headers.collect())
    }

    /// Sets the outputs of an activity that sends a request.
    pub(super) fn give(&self, cx: &mut Cx<'_, '_>) {
        let wanted = cx.bound_type("parsedContent").unwrap_or(DataType::Object);
        let parsed = content(&self.media_type(), &self.file_name(), &self.body, &wanted);
        // An answer that only says it is JSON is no failure of the workflow: it is text.
        cx.set_output(
            "parsedContent",
            parsed.unwrap_or_else(|_| text(&self.body).into()),
        );
        cx.set_output("statusCode", self.status.into());
        cx.set_output("responseHeaders", self.headers_value(|_| true));
        cx.set_output("result", self.summary());
    }

    /// The body as a file.
    pub(super) fn file(&self) -> File {
        File {
            name: self.file_name(),
            content_type: self.media_type(),
            bytes: self.body.clone(),
            ..File::default()
        }
    }

    /// The answer without its body.
    pub(super) fn summary(&self) -> Value {
        json!({
            "statusCode": self.status,
            "isSuccessStatusCode": (200..300).contains(&self.status),
            "contentType": self.media_type(),
            "contentLength": self.body.len(),
        })
    }
}

/// The outcomes of an activity in a flowchart for a status.
pub(super) fn outcomes(status: u16, expected: &[u16]) -> Vec<String> {
    let mut outcomes = Vec::new();
    if expected.contains(&status) {
        outcomes.push(status.to_string());
    } else if !expected.is_empty() {
        outcomes.push("Unmatched status code".into());
    }
    outcomes.push("Done".into());
    outcomes
}

/// The status codes that an input lists.
pub(super) fn expected(cx: &mut Cx<'_, '_>) -> Result<Vec<u16>, Fault> {
    Ok(match cx.input("expectedStatusCodes")? {
        Value::Array(codes) => codes
            .iter()
            .filter_map(Value::as_u64)
            .filter_map(|c| u16::try_from(c).ok())
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Vec::new()
        }
    })
}
