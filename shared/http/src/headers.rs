//! Headers of answers: those that every answer has, and those that a workflow may set on its own.
//!
//! HTTP workflows share their origin with the console. A header that works on a whole origin, such as one that sets a cookie or
//! empties the browser's storage, is therefore not theirs to set.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;

/// Headers that a workflow may set.
const OF_WORKFLOWS: [&str; 37] = [
    "accept-ranges",
    "age",
    "allow",
    "cache-control",
    "content-digest",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-location",
    "content-range",
    "content-security-policy",
    "content-type",
    "cross-origin-resource-policy",
    "deprecation",
    "digest",
    "etag",
    "expires",
    "idempotency-key",
    "last-modified",
    "link",
    "location",
    "pragma",
    "preference-applied",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
    "referrer-policy",
    "repr-digest",
    "request-id",
    "retry-after",
    "server-timing",
    "sunset",
    "traceparent",
    "tracestate",
    "vary",
    "warning",
    "webhook-allowed-origin",
];

/// Beginnings of names that a workflow may set.
const PREFIXES: [&str; 2] = ["access-control-", "x-"];

/// Beginnings of names that proxies act on.
const OF_PROXIES: [&str; 3] = ["x-accel-", "x-sendfile", "x-lighttpd-"];

/// Whether a workflow may set a header on its answer.
pub(crate) fn is_of_workflow(name: &HeaderName) -> bool {
    let name = name.as_str();
    let begins = |all: &[&str]| all.iter().any(|begin| name.starts_with(begin));
    OF_WORKFLOWS.contains(&name) || begins(&PREFIXES) && !begins(&OF_PROXIES)
}

/// Has every answer say that it is what its content type says, and nothing else.
pub(crate) async fn harden(mut response: Response) -> Response {
    let nosniff = HeaderValue::from_static("nosniff");
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

/// Has nobody keep a copy of an answer of the API, unless it says something else.
pub(crate) fn keep_private(response: &mut Response) {
    let no_store = HeaderValue::from_static("no-store");
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(no_store);
}

/// Has browsers come encrypted only, from now on.
pub(crate) fn demand_https(response: &mut Response) {
    let two_years = HeaderValue::from_static("max-age=63072000");
    let headers = response.headers_mut();
    headers.insert(header::STRICT_TRANSPORT_SECURITY, two_years);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_sets_what_is_about_its_answer_and_nothing_about_the_origin() {
        let may = |name: &'static str| is_of_workflow(&HeaderName::from_static(name));
        for own in [
            "content-type",
            "location",
            "x-order-id",
            "access-control-allow-origin",
        ] {
            assert!(may(own), "{own}");
        }
        for foreign in [
            "set-cookie",
            "clear-site-data",
            "nel",
            "report-to",
            "reporting-endpoints",
            "strict-transport-security",
            "alt-svc",
            "service-worker-allowed",
            "www-authenticate",
            "refresh",
            "x-accel-redirect",
            "x-sendfile",
            "connection",
            "transfer-encoding",
            "content-length",
        ] {
            assert!(!may(foreign), "{foreign}");
        }
    }
}
