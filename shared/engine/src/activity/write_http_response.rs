//! `Elsa.WriteHttpResponse`: answers the HTTP request that waits.

use serde_json::{Map, Value};

use super::{Activity, BuiltIn, Descriptor};
use crate::call::HttpResponse;
use crate::definition::convert::text_of;
use crate::http::{Outgoing, status};
use crate::step::{Cx, Fault, Then};

const JSON: &str = "application/json";

#[derive(Debug)]
struct WriteHttpResponse;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.WriteHttpResponse", "HTTP", "Sends the HTTP response.")
            .titled("HTTP Response")
            .input(
                "statusCode",
                "HttpStatusCode",
                "Status code, by name or number.",
            )
            .default_value("OK")
            .hint("dropdown")
            .input("content", "Object", "The body.")
            .input(
                "contentType",
                "String",
                "Content type of the body. By default, text or JSON, as detected.",
            )
            .input("responseHeaders", "HttpHeaders", "Additional headers.")
            .default_value(Value::Object(Map::new())),
        build: |_, _| Box::new(WriteHttpResponse),
    }
}

/// The failure of an activity that would answer a request where none waits.
pub(super) fn expect_request(cx: &Cx<'_, '_>) -> Result<(), Fault> {
    if cx.has_http_request() {
        return Ok(());
    }
    let message =
        "The HTTP context was lost during workflow execution: no HTTP request waits for an answer.";
    Err(Fault::new("FaultException", message)
        .with("code", "NoHttpContext")
        .with("category", "HTTP")
        .with("type", "System"))
}

/// The headers of an input: each value, and each of a list of values.
pub(super) fn headers(cx: &mut Cx<'_, '_>, name: &str) -> Result<Vec<(String, String)>, Fault> {
    let mut headers = Vec::new();
    if let Value::Object(map) = cx.input(name)? {
        for (name, value) in map {
            match value {
                Value::Array(values) => {
                    headers.extend(values.into_iter().map(|v| (name.clone(), text_of(v))))
                }
                Value::String(text) => headers.push((name, text)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                    let message =
                        format!("the header `{name}` is no text; give a text or a list of texts");
                    return Err(Fault::new("InvalidInput", message));
                }
            }
        }
    }
    Ok(headers)
}

/// Whether a text is a type and a subtype, with or without parameters.
fn is_media_type(text: &str) -> bool {
    let bare = text.split(';').next().unwrap_or_default().trim();
    bare.split_once('/').is_some_and(|(kind, sub)| {
        !kind.is_empty() && !sub.is_empty() && !bare.contains(char::is_whitespace)
    })
}

impl Activity for WriteHttpResponse {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        expect_request(cx)?;
        let text = cx.text("statusCode")?.unwrap_or_default();
        let status = status(&text).ok_or_else(|| {
            Fault::new(
                "InvalidInput",
                format!("`{text}` is no HTTP status; give one such as OK or 404"),
            )
        })?;
        let content = cx.input("content")?;
        let content_type = cx.text("contentType")?;
        // A date, a duration and a GUID are no texts to Elsa, though they look like it here.
        let is_object = content_type.is_none() && cx.is_scalar_object("content");
        let content_type = content_type.or(is_object.then(|| JSON.to_owned()));
        let outgoing = Outgoing::of(&content, content_type.as_deref());
        let mut headers = headers(cx, "responseHeaders")?;
        if !content.is_null() {
            if !is_media_type(&outgoing.content_type) {
                let message = format!(
                    "`{}` is no content type; give one such as text/plain",
                    outgoing.content_type
                );
                return Err(Fault::new("InvalidInput", message));
            }
            // What the body is counts more than what a header says of it.
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            headers.insert(0, ("content-type".into(), outgoing.content_type));
        }
        if cx.has_answered() {
            let message =
                "the HTTP request is answered already: the body of an answer can be written once";
            return Err(Fault::new("AlreadyAnswered", message));
        }
        let is_bodiless = matches!(status, 100..=199 | 204 | 205 | 304);
        if is_bodiless && !outgoing.body.is_empty() {
            cx.respond(HttpResponse {
                status,
                headers,
                body: Vec::new(),
            });
            let message = format!("an answer of the status {status} has no body; give no content");
            return Err(Fault::new("InvalidOperationException", message));
        }
        cx.respond(HttpResponse {
            status,
            headers,
            body: outgoing.body,
        });
        Ok(Then::DONE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, literal, script};
    use crate::instance::SubStatus;

    fn answered(activity: Value, has_request: bool) -> Scenario {
        let mut scenario = Scenario::of(activity);
        scenario.has_http_request = has_request;
        scenario.start()
    }

    #[test]
    fn the_request_is_answered() {
        let activity = json!({
            "type": "Elsa.WriteHttpResponse", "statusCode": literal("Created"), "content": script("({ Id: 1 })"),
            "responseHeaders": literal(json!({ "x-one": "1", "x-many": ["a", "b"] })),
        });
        let response = answered(activity, true).response.unwrap();
        assert_eq!(response.status, 201);
        assert_eq!(response.body, b"{\"Id\":1}");
        let headers = [
            ("content-type", "application/json"),
            ("x-one", "1"),
            ("x-many", "a"),
            ("x-many", "b"),
        ];
        assert_eq!(
            response.headers,
            headers.map(|(n, v)| (n.to_owned(), v.to_owned()))
        );
    }

    #[test]
    fn without_anything_it_is_an_empty_ok() {
        let response = answered(json!({ "type": "Elsa.WriteHttpResponse" }), true)
            .response
            .unwrap();
        assert_eq!(
            (response.status, response.headers.len(), response.body.len()),
            (200, 0, 0)
        );
    }

    #[test]
    fn a_content_type_that_is_none_is_an_incident() {
        let activity = json!({
            "type": "Elsa.WriteHttpResponse", "content": literal("x"), "contentType": literal("nonsense"),
        });
        let scenario = answered(activity, true);
        assert!(scenario.incidents()[0].contains("`nonsense`"));
        assert_eq!(scenario.response, None);
    }

    #[test]
    fn a_body_is_written_once() {
        let write =
            |text: &str| json!({ "type": "Elsa.WriteHttpResponse", "content": literal(text) });
        let activities = json!([write("one"), write("two")]);
        let scenario = answered(
            json!({ "type": "Elsa.Sequence", "activities": activities }),
            true,
        );
        assert_eq!(scenario.response.as_ref().unwrap().body, b"one");
        assert_eq!(scenario.incidents().len(), 1);
    }

    #[test]
    fn without_a_request_it_is_an_incident() {
        let scenario = answered(json!({ "type": "Elsa.WriteHttpResponse" }), false);
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        let exception = scenario.instance.incidents[0].exception.as_ref().unwrap();
        assert_eq!(exception.metadata["code"], json!("NoHttpContext"));
        assert_eq!(scenario.response, None);
    }

    #[test]
    fn a_status_that_there_is_not_is_an_incident() {
        let activity = json!({ "type": "Elsa.WriteHttpResponse", "statusCode": literal("Fine") });
        assert!(answered(activity, true).incidents()[0].contains("`Fine`"));
    }
}
