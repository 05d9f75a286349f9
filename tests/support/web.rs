//! HTTP requests as a shell describes them to the engine.

use dormouse_engine::http::HTTP_CONTEXT;
use serde_json::{Map, Value, json};

/// A request under construction.
#[derive(Debug, Clone)]
pub struct Request {
    /// In lower case.
    pub method: String,
    /// Below the base path.
    pub path: String,
    /// The path template that it matches, in lower case.
    pub template: String,
    context: Map<String, Value>,
}

/// A request with a method to a path.
#[must_use]
pub fn request(method: &str, path: &str) -> Request {
    let context = json!({
        "method": method, "path": path, "routeData": {}, "query": {}, "headers": {}, "contentLength": 0,
    });
    Request {
        method: method.to_lowercase(),
        path: path.to_owned(),
        template: path.to_owned(),
        context: crate::scenario::entries(context),
    }
}

impl Request {
    /// Matching a template with values for its parameters.
    #[must_use]
    pub fn matching(mut self, template: &str, values: Value) -> Self {
        template.clone_into(&mut self.template);
        self.with("routeData", values)
    }

    /// With a body of a type.
    #[must_use]
    pub fn body(self, content_type: &str, body: &[u8]) -> Self {
        self.with("contentType", content_type)
            .with("contentLength", body.len())
            .with("body", base64(body))
    }

    /// With anything else that a shell says of a request.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.context.insert(name.to_owned(), value.into());
        self
    }

    /// What an instance receives.
    #[must_use]
    pub fn input(&self) -> Map<String, Value> {
        let context = Value::Object(self.context.clone());
        let path = Value::from(self.path.as_str());
        Map::from_iter([
            (HTTP_CONTEXT.to_owned(), context),
            ("Path".to_owned(), path),
        ])
    }
}

/// A part of a multipart form: its field's name, a file name and type if it is a file, its bytes.
pub type Part<'a> = (&'a str, Option<(&'a str, &'a str)>, &'a str);

/// A multipart form with the boundary `part`, for `multipart/form-data; boundary=part`.
#[must_use]
pub fn multipart(parts: &[Part<'_>]) -> Vec<u8> {
    let mut out = String::new();
    for (name, file, content) in parts {
        out.push_str("--part\r\nContent-Disposition: form-data; name=\"");
        out.push_str(name);
        out.push('"');
        if let Some((file_name, content_type)) = file {
            out.push_str(&format!(
                "; filename=\"{file_name}\"\r\nContent-Type: {content_type}"
            ));
        }
        out.push_str("\r\n\r\n");
        out.push_str(content);
        out.push_str("\r\n");
    }
    out.push_str("--part--\r\n");
    out.into_bytes()
}

/// Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_u32, |all, byte| all << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * place) & 63) as usize];
            out.push(if place > chunk.len() {
                '='
            } else {
                char::from(digit)
            });
        }
    }
    out
}
