//! Values as bodies: what an activity writes to an answer or sends with a request.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::arrived::media_type;
use super::file::File;
use crate::definition::convert::text_of;

/// A body and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Outgoing {
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

impl Outgoing {
    /// A value as a body. Without a content type files are what they say, text is `text/plain`, everything else JSON.
    /// Null is no body. Text is sent as it is, unless the content type is one of bytes and the text is Base64, which
    /// is how bytes are kept.
    pub(crate) fn of(value: &Value, content_type: Option<&str>) -> Self {
        let given = content_type.map(str::trim).filter(|t| !t.is_empty());
        let typed = |content_type: &str, body: Vec<u8>| Self {
            content_type: content_type.to_owned(),
            body,
        };
        if let Some(file) = File::read(value) {
            let own = Some(file.content_type.as_str()).filter(|t| !t.is_empty());
            return typed(
                given.or(own).unwrap_or("application/octet-stream"),
                file.bytes,
            );
        }
        let kind = given.map(media_type).unwrap_or_default();
        match value {
            Value::Null => Self {
                content_type: given.unwrap_or_default().to_owned(),
                body: Vec::new(),
            },
            Value::String(text) => {
                let bytes = if is_bytes(&kind) {
                    STANDARD.decode(text).ok()
                } else {
                    None
                };
                typed(
                    given.unwrap_or("text/plain"),
                    bytes.unwrap_or_else(|| text.clone().into_bytes()),
                )
            }
            Value::Object(map) if kind == "application/x-www-form-urlencoded" => {
                let pairs: Vec<_> = map.iter().map(|(name, value)| pair(name, value)).collect();
                typed(given.unwrap_or_default(), pairs.join("&").into_bytes())
            }
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                let body = if kind.starts_with("text/") {
                    text_of(other.clone())
                } else {
                    other.to_string()
                };
                typed(given.unwrap_or("application/json"), body.into_bytes())
            }
        }
    }
}

/// Whether what is of this type is bytes rather than text.
pub(super) fn is_bytes(media_type: &str) -> bool {
    let is_text = [
        "json",
        "xml",
        "javascript",
        "urlencoded",
        "yaml",
        "graphql",
        "csv",
    ];
    !media_type.is_empty()
        && !media_type.starts_with("text/")
        && !is_text.iter().any(|text| media_type.contains(text))
}

fn pair(name: &str, value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let all: Vec<_> = values.iter().map(|value| pair(name, value)).collect();
            all.join("&")
        }
        single @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => {
            format!("{}={}", encoded(name), encoded(&text_of(single.clone())))
        }
    }
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => {
                out.push(char::from(byte))
            }
            b' ' => out.push('+'),
            other => {
                let _infallible = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(value: Value, content_type: Option<&str>) -> (String, String) {
        let outgoing = Outgoing::of(&value, content_type);
        (
            outgoing.content_type,
            String::from_utf8_lossy(&outgoing.body).into_owned(),
        )
    }

    fn pair_of(content_type: &str, body: &str) -> (String, String) {
        (content_type.to_owned(), body.to_owned())
    }

    #[test]
    fn a_value_says_what_it_is() {
        assert_eq!(sent(json!("Grüße"), None), pair_of("text/plain", "Grüße"));
        assert_eq!(
            sent(json!({ "Name": 1 }), None),
            pair_of("application/json", "{\"Name\":1}")
        );
        assert_eq!(
            sent(json!(true), Some(" ")),
            pair_of("application/json", "true")
        );
        assert_eq!(sent(Value::Null, None), pair_of("", ""));
        let file = File {
            content_type: "image/png".into(),
            name: "a".into(),
            bytes: b"png".to_vec(),
            ..File::default()
        };
        assert_eq!(sent(file.value(), None), pair_of("image/png", "png"));
    }

    #[test]
    fn a_content_type_decides() {
        assert_eq!(
            sent(json!("{}"), Some("application/json")),
            pair_of("application/json", "{}")
        );
        assert_eq!(
            sent(json!("aGVsbG8="), Some("image/png")),
            pair_of("image/png", "hello")
        );
        assert_eq!(
            sent(json!("not base64!"), Some("image/png")),
            pair_of("image/png", "not base64!")
        );
        assert_eq!(
            sent(json!(3.0), Some("text/html")),
            pair_of("text/html", "3")
        );
        let form = json!({ "a b": "ä", "n": [1, 2] });
        let kind = "application/x-www-form-urlencoded";
        assert_eq!(sent(form, Some(kind)), pair_of(kind, "a+b=%C3%A4&n=1&n=2"));
    }
}
