//! Following redirects as browsers and .NET do: by hand, so that every hop passes the guard.

use hyper::header::HeaderMap;
use hyper::{StatusCode, Uri};

/// Headers that tell no secret. Credentials have any name: `Authorization`, `Cookie`, `X-Api-Key`.
const FOR_OTHERS: [&str; 6] = [
    "accept",
    "accept-language",
    "content-language",
    "content-type",
    "idempotency-key",
    "user-agent",
];

/// The most hops of one request.
pub(crate) const HOPS_MAX: usize = 10;

/// What a redirect does to the method and the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// The same request elsewhere.
    Same,
    /// A GET without a body.
    Get,
}

/// Whether a response with this status to this method asks to look elsewhere, and how.
pub(crate) fn again(status: StatusCode, method: &str) -> Option<Again> {
    match status.as_u16() {
        301 | 302 if method == "POST" => Some(Again::Get),
        303 if method != "HEAD" => Some(Again::Get),
        301 | 302 | 303 | 307 | 308 => Some(Again::Same),
        _ => None,
    }
}

/// The absolute place that a `Location` means, seen from the place that sent it.
pub(crate) fn target(from: &Uri, location: &str) -> Option<Uri> {
    let location = location.split('#').next().unwrap_or_default();
    let (scheme, authority) = (from.scheme_str()?, from.authority()?.as_str());
    let text = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else if location.starts_with('?') {
        format!("{scheme}://{authority}{}{location}", from.path())
    } else {
        let folder = from.path().rsplit_once('/').map_or("", |(head, _)| head);
        format!("{scheme}://{authority}{folder}/{location}")
    };
    let uri: Uri = text.parse().ok()?;
    // From TLS to none is a step down that nobody asked for; .NET does not take it either.
    (scheme != "https" || uri.scheme_str() == Some("https")).then_some(uri)
}

/// Whether credentials for one place may be sent to the other.
pub(crate) fn is_same_origin(a: &Uri, b: &Uri) -> bool {
    a.scheme() == b.scheme() && a.authority() == b.authority()
}

/// The headers of a request that go to another origin than the one that they were meant for.
pub(crate) fn for_others(headers: HeaderMap) -> HeaderMap {
    let mut name = None;
    let mut kept = HeaderMap::new();
    for (next, value) in headers {
        // Further values of a header come without its name.
        name = next.or(name);
        if let Some(name) = &name
            && FOR_OTHERS.contains(&name.as_str())
        {
            kept.append(name, value);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_read_relative_to_its_sender() {
        let from: Uri = "http://a.example:81/x/y?q=1".parse().unwrap();
        for (location, expected) in [
            ("https://b.example/z", "https://b.example/z"),
            ("//b.example/z", "http://b.example/z"),
            ("/z", "http://a.example:81/z"),
            ("z", "http://a.example:81/x/z"),
            ("?q=2#part", "http://a.example:81/x/y?q=2"),
        ] {
            assert_eq!(target(&from, location).unwrap().to_string(), expected);
        }
        let secure: Uri = "https://a.example/".parse().unwrap();
        assert_eq!(target(&secure, "http://a.example/"), None);
    }

    #[test]
    fn only_a_post_that_moved_becomes_a_get() {
        assert_eq!(again(StatusCode::FOUND, "POST"), Some(Again::Get));
        assert_eq!(again(StatusCode::FOUND, "PUT"), Some(Again::Same));
        assert_eq!(again(StatusCode::SEE_OTHER, "PUT"), Some(Again::Get));
        assert_eq!(
            again(StatusCode::TEMPORARY_REDIRECT, "POST"),
            Some(Again::Same)
        );
        assert_eq!(again(StatusCode::NOT_MODIFIED, "GET"), None);
    }
}
