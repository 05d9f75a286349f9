//! HTTP requests as a shell describes them to the engine.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
    let mut context = Map::new();
    context.insert("method".into(), method.into());
    context.insert("path".into(), path.into());
    for name in ["routeData", "query", "headers"] {
        context.insert(name.into(), json!({}));
    }
    context.insert("contentLength".into(), 0.into());
    Request {
        method: method.to_lowercase(),
        path: path.to_owned(),
        template: path.to_owned(),
        context,
    }
}

impl Request {
    /// Sets the template that it matches, and the values of the template's parameters.
    #[must_use]
    pub fn matching(mut self, template: &str, values: Value) -> Self {
        template.clone_into(&mut self.template);
        self.with("routeData", values)
    }

    /// Sets a body of a type.
    #[must_use]
    pub fn body(self, content_type: &str, body: &[u8]) -> Self {
        self.with("contentType", content_type)
            .with("contentLength", body.len())
            .with("body", STANDARD.encode(body))
    }

    /// Sets anything else that a shell says of a request.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.context.insert(name.to_owned(), value.into());
        self
    }

    /// Input of the instance that receives it.
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
