//! The spelling of header names. Names that the servers and clients of .NET know are given in that spelling,
//! whatever the peer wrote; Elsa's dictionaries of headers, and so scripts, have them like this.

/// Well-known names, as .NET spells them, in the order of their lower-case form.
const KNOWN: [&str; 72] = [
    "Accept",
    "Accept-Charset",
    "Accept-Encoding",
    "Accept-Language",
    "Accept-Patch",
    "Accept-Ranges",
    "Access-Control-Allow-Credentials",
    "Access-Control-Allow-Headers",
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
    "Access-Control-Max-Age",
    "Access-Control-Request-Headers",
    "Access-Control-Request-Method",
    "Age",
    "Allow",
    "Alt-Svc",
    "Alt-Used",
    "Authorization",
    "Cache-Control",
    "Connection",
    "Content-Disposition",
    "Content-Encoding",
    "Content-Language",
    "Content-Length",
    "Content-Location",
    "Content-MD5",
    "Content-Range",
    "Content-Security-Policy",
    "Content-Type",
    "Cookie",
    "Correlation-Context",
    "Date",
    "ETag",
    "Expect",
    "Expires",
    "From",
    "Host",
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "If-Range",
    "If-Unmodified-Since",
    "Keep-Alive",
    "Last-Modified",
    "Link",
    "Location",
    "Max-Forwards",
    "Origin",
    "Pragma",
    "Proxy-Authenticate",
    "Proxy-Authorization",
    "Proxy-Connection",
    "Range",
    "Referer",
    "Request-Id",
    "Retry-After",
    "Server",
    "Set-Cookie",
    "Strict-Transport-Security",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Translate",
    "Upgrade",
    "Upgrade-Insecure-Requests",
    "User-Agent",
    "Vary",
    "Via",
    "Warning",
    "WWW-Authenticate",
    "X-Frame-Options",
];

/// The name as .NET spells it; one that is not known there stays as it is.
#[must_use]
pub fn header_name(name: &str) -> &str {
    let lower = name.to_ascii_lowercase();
    let found = KNOWN.binary_search_by(|known| known.to_ascii_lowercase().as_str().cmp(&lower));
    found
        .ok()
        .and_then(|place| KNOWN.get(place).copied())
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_have_one_spelling_and_others_stay() {
        for known in KNOWN {
            assert_eq!(header_name(&known.to_ascii_lowercase()), known);
            assert_eq!(header_name(&known.to_ascii_uppercase()), known);
        }
        assert_eq!(header_name("x-correlation-id"), "x-correlation-id");
        assert_eq!(header_name("traceparent"), "traceparent");
    }
}
