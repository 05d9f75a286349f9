//! From an event in payload format 2.0 to a request.

use std::collections::BTreeMap;

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_http::ClientAddress;
use http::{HeaderName, HeaderValue, Request, header};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

/// Characters that a path cannot contain as they are. A gateway hands paths on decoded, a function URL does not: so what is encoded
/// stays as it is.
const NOT_IN_PATHS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'\\')
    .add(b'^')
    .add(b'|');

/// Characters that a query cannot contain as they are.
const NOT_IN_QUERIES: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'\\')
    .add(b'^')
    .add(b'|');

/// The stage whose name is no part of the path.
const UNNAMED_STAGE: &str = "$default";

/// Why an event is no request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadEvent {
    /// It is something else.
    #[error("the event is not a request in payload format 2.0: {0}")]
    Shape(#[source] serde_json::Error),
    /// Its body is not base64, as it says.
    #[error("the body of the request is not base64: {0}")]
    Body(#[source] base64::DecodeError),
    /// Method or path cannot be one.
    #[error("the request cannot be one: {0}")]
    Request(#[source] http::Error),
}

/// The event, as far as it is looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    raw_path: String,
    #[serde(default)]
    raw_query_string: String,
    #[serde(default)]
    cookies: Vec<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    request_context: Context,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

#[derive(Debug, Deserialize)]
struct Context {
    http: Http,
    #[serde(default)]
    stage: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Http {
    method: String,
    #[serde(default)]
    source_ip: String,
}

/// Reads an event as a request.
pub(crate) fn read(event: Value) -> Result<Request<Body>, BadEvent> {
    let event: Event = serde_json::from_value(event).map_err(BadEvent::Shape)?;
    let body = match event.body {
        None => Vec::new(),
        Some(text) if event.is_base64_encoded => STANDARD.decode(text).map_err(BadEvent::Body)?,
        Some(text) => text.into_bytes(),
    };
    let path = below_stage(&event.raw_path, event.request_context.stage.as_deref());
    let mut uri = utf8_percent_encode(path, NOT_IN_PATHS).to_string();
    if !event.raw_query_string.is_empty() {
        uri.push('?');
        uri.extend(utf8_percent_encode(&event.raw_query_string, NOT_IN_QUERIES));
    }
    let mut request = Request::builder()
        .method(event.request_context.http.method.as_str())
        .uri(uri)
        .body(Body::from(body))
        .map_err(BadEvent::Request)?;
    // What the gateway saw, not what a header says.
    let address = event.request_context.http.source_ip.parse().ok();
    request.extensions_mut().insert(ClientAddress(address));
    let headers = request.headers_mut();
    for (name, value) in event.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        // Its length is that of the encoded body, if it is one.
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes()))
            && name != header::CONTENT_LENGTH
        {
            headers.append(name, value);
        }
    }
    if let Ok(cookies) = HeaderValue::from_str(&event.cookies.join("; "))
        && !cookies.is_empty()
    {
        headers.insert(header::COOKIE, cookies);
    }
    Ok(request)
}

/// The path without the name of the stage that it goes through.
fn below_stage<'a>(path: &'a str, stage: Option<&str>) -> &'a str {
    let stage = stage.filter(|stage| *stage != UNNAMED_STAGE && !stage.is_empty());
    let below = stage.and_then(|stage| path.strip_prefix('/')?.strip_prefix(stage));
    match below {
        Some("") => "/",
        Some(below) if below.starts_with('/') => below,
        Some(_) | None => path,
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use serde_json::json;

    use super::*;

    fn event(path: &str, query: &str) -> Value {
        json!({
            "version": "2.0", "rawPath": path, "rawQueryString": query,
            "headers": { "content-type": "application/json", "content-length": "9", "accept": "a,b" },
            "requestContext": {
                "http": { "method": "POST", "sourceIp": "192.0.2.7" }, "stage": "$default",
            },
        })
    }

    async fn body(request: Request<Body>) -> Vec<u8> {
        let body = request.into_body().collect().await;
        body.unwrap().to_bytes().to_vec()
    }

    #[tokio::test]
    async fn a_request_is_what_was_sent() {
        let mut event = event("/workflows/orders", "a=1&b=x%20y&b=2");
        event["cookies"] = json!(["a=1", "b=2"]);
        event["body"] = json!("{\"a\": 1}");
        let request = read(event).unwrap();
        assert_eq!(request.method(), "POST");
        assert_eq!(request.uri(), "/workflows/orders?a=1&b=x%20y&b=2");
        let headers = request.headers();
        assert_eq!(headers["cookie"], "a=1; b=2");
        assert_eq!(headers["accept"], "a,b");
        assert!(!headers.contains_key("content-length"));
        let client = request.extensions().get::<ClientAddress>();
        assert_eq!(client, Some(&ClientAddress("192.0.2.7".parse().ok())));
        assert_eq!(body(request).await, b"{\"a\": 1}");
    }

    #[tokio::test]
    async fn a_binary_body_is_decoded() {
        let mut event = event("/", "");
        event["body"] = json!("AAH/");
        event["isBase64Encoded"] = json!(true);
        assert_eq!(body(read(event.clone()).unwrap()).await, [0, 1, 255]);
        event["body"] = json!("***");
        assert!(matches!(read(event), Err(BadEvent::Body(_))));
    }

    #[test]
    fn paths_may_come_decoded() {
        for (path, uri) in [
            ("/a b/ü", "/a%20b/%C3%BC"),
            ("/a%20b", "/a%20b"),
            ("/what?#", "/what%3F%23"),
            ("/{id}", "/%7Bid%7D"),
        ] {
            assert_eq!(read(event(path, "")).unwrap().uri(), uri);
        }
        assert_eq!(read(event("/", "q=ü |")).unwrap().uri(), "/?q=%C3%BC%20%7C");
    }

    #[test]
    fn a_stage_with_a_name_is_no_part_of_the_path() {
        assert_eq!(below_stage("/prod/elsa/api", Some("prod")), "/elsa/api");
        assert_eq!(below_stage("/prod", Some("prod")), "/");
        assert_eq!(below_stage("/product", Some("prod")), "/product");
        assert_eq!(below_stage("/prod/x", Some("$default")), "/prod/x");
        assert_eq!(below_stage("/prod/x", None), "/prod/x");
    }

    #[test]
    fn what_is_no_request_is_said() {
        let said = read(json!({ "Records": [] })).unwrap_err().to_string();
        assert!(said.contains("payload format 2.0"), "{said}");
        let mut bad = event("/", "");
        bad["requestContext"]["http"]["method"] = json!("NO METHOD");
        assert!(matches!(read(bad), Err(BadEvent::Request(_))));
    }
}
