//! Answers that are the same for everybody until the program changes: made once, and not sent again to a client that has them.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// A JSON text with its tag.
pub(crate) struct MadeOnce {
    body: Bytes,
    tag: String,
}

impl MadeOnce {
    /// Keeps a text.
    pub(crate) fn new(body: Vec<u8>) -> Self {
        let tag = format!("\"{:016x}\"", fingerprint(&body));
        Self {
            body: body.into(),
            tag,
        }
    }

    /// The text, or 304 for a client that has it. Clients may keep it and ask whether it has changed.
    pub(crate) fn answer(&self, headers: &HeaderMap) -> Response {
        let mut response = if self.is_known(headers) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let json = HeaderValue::from_static("application/json");
            let mut response = Body::from(self.body.clone()).into_response();
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        };
        let to = response.headers_mut();
        let fresh = HeaderValue::from_static("no-cache");
        to.insert(header::CACHE_CONTROL, fresh);
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            to.insert(header::ETAG, tag);
        }
        response
    }

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(header::IF_NONE_MATCH).iter();
        let texts = lines.filter_map(|line| line.to_str().ok());
        let mut tags = texts.flat_map(|text| text.split(',')).map(str::trim);
        // A proxy that compresses makes a tag weak.
        tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == self.tag)
    }
}

/// FNV-1a: tells one build's text from another's, no more.
fn fingerprint(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_has_the_text_does_not_get_it_again() {
        let once = MadeOnce::new(b"{}".to_vec());
        let first = once.answer(&HeaderMap::new());
        assert_eq!(first.status(), 200);
        let tag = first.headers()[header::ETAG].to_str().unwrap();
        let ask = |tag: String| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_NONE_MATCH, tag.parse().unwrap());
            once.answer(&headers).status()
        };
        for known in [tag.to_owned(), format!("W/{tag}"), format!("\"a\", {tag}")] {
            assert_eq!(ask(known), 304);
        }
        assert_eq!(ask("\"another\"".into()), 200);
    }
}
