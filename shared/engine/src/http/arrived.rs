//! A request that arrived, as the shell describes it in a burst's input.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::form::{self, Form};
use crate::definition::fields::Fields;

/// The name under which a request comes with a burst's input:
///
/// ```json
/// { "method": "post", "path": "/orders/17", "routeData": { "id": "17" }, "query": { "dry": "1" },
///   "headers": { "content-type": "application/json" }, "contentType": "application/json",
///   "contentLength": 2, "body": "e30=" }
/// ```
///
/// Names of route values and headers are in lower case, a name that comes more than once has a list, the body is
/// Base64 and absent or null if there is none. `isTooLarge` says that the shell stopped reading at the limit.
pub const HTTP_CONTEXT: &str = "HttpContext";

/// A request that arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrived {
    method: String,
    path: String,
    /// Values of the path template's parameters.
    pub route_data: Map<String, Value>,
    /// Values of the query.
    pub query: Map<String, Value>,
    /// Headers.
    pub headers: Map<String, Value>,
    /// What the body is, in lower case and without parameters.
    pub media_type: String,
    content_type: String,
    length: u64,
    /// The body.
    pub body: Vec<u8>,
    /// The shell did not read all of it.
    pub is_cut: bool,
}

impl Arrived {
    /// Reads what the shell says of a request. `None`: it is no such description.
    #[must_use]
    pub fn read(context: &Value) -> Option<Self> {
        let fields = Fields::of(context);
        let map = |name: &str| {
            fields
                .get(name)
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default()
        };
        let content_type = fields.text("contentType").unwrap_or_default();
        let body = match fields.text("body") {
            Some(text) => STANDARD.decode(text).ok()?,
            None => Vec::new(),
        };
        let declared = fields
            .integer("contentLength")
            .and_then(|n| u64::try_from(n).ok());
        fields.is_present().then(|| Self {
            method: fields
                .text("method")
                .unwrap_or_default()
                .to_ascii_uppercase(),
            path: fields.text("path").unwrap_or_default(),
            route_data: map("routeData"),
            query: map("query"),
            headers: map("headers"),
            media_type: media_type(&content_type),
            length: declared.unwrap_or(0).max(body.len() as u64),
            content_type,
            body,
            is_cut: fields.flag("isTooLarge").unwrap_or(false),
        })
    }

    /// The size of the body in bytes, as declared or as it came.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// A header, the first of that name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        match found?.1 {
            Value::Array(values) => values.first()?.as_str(),
            single @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_)) => single.as_str(),
        }
    }

    /// The form in the body, if it is one.
    #[must_use]
    pub fn form(&self) -> Option<Form> {
        match self.media_type.as_str() {
            "application/x-www-form-urlencoded" => Some(form::url_encoded(&self.body)),
            "multipart/form-data" => Some(form::multipart(&self.content_type, &self.body)),
            _ => None,
        }
    }

    /// The request without its body, as the activity's result.
    #[must_use]
    pub fn summary(&self) -> Value {
        json!({
            "method": self.method,
            "path": self.path,
            "routeData": self.route_data,
            "query": self.query,
            "headers": self.headers,
            "contentType": self.content_type,
            "contentLength": self.length,
        })
    }
}

/// A content type in lower case, without its parameters.
pub(super) fn media_type(content_type: &str) -> String {
    let head = content_type.split(';').next().unwrap_or_default();
    head.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_shell_says_is_read() {
        let context = json!({
            "method": "post", "path": "/orders/17", "routeData": { "id": "17" },
            "headers": { "content-type": "Application/JSON; charset=utf-8", "x": ["1", "2"] },
            "contentType": "Application/JSON; charset=utf-8", "contentLength": 2, "body": "e30=",
        });
        let arrived = Arrived::read(&context).unwrap();
        assert_eq!(arrived.media_type, "application/json");
        assert_eq!(arrived.body, b"{}");
        assert_eq!(
            (arrived.header("X"), arrived.header("y")),
            (Some("1"), None)
        );
        assert_eq!(arrived.summary()["method"], json!("POST"));
        assert!(arrived.summary().get("body").is_none());
    }

    #[test]
    fn what_is_no_request_is_none() {
        assert_eq!(Arrived::read(&json!(true)), None);
        assert_eq!(Arrived::read(&json!({ "body": "%" })), None);
    }
}
