//! Keeping web pages out: a browser on this machine reaches the server, and so does every page that it shows.
//!
//! A page of another origin may not change anything through the API. Where the server is for this machine only,
//! requests must name it by one of the machine's own names: a page whose name was pointed at 127.0.0.1 does not.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};

use crate::app::App;
use crate::refusal::{Operating, Refusal};

/// Where people reach this server: as configured, else as the one who asks does.
pub(crate) fn address(app: &App, authority: Option<&str>, headers: &HeaderMap) -> String {
    if let Some(url) = app.public_url() {
        return url.to_owned();
    }
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok());
    let host = host.or(authority).unwrap_or("localhost");
    let is_local = app.config().is_local;
    format!("{}://{host}", if is_local { "http" } else { "https" })
}

/// Refuses a request under a name that is not this machine's.
pub(crate) fn own_names_only(app: &App, request: &Request) -> Result<(), Refusal> {
    let host = host(request.headers());
    if app.config().is_local && !host.is_some_and(|(name, _)| is_own(name)) {
        return Err(Refusal::ForeignHost);
    }
    Ok(())
}

/// Among a request's extensions: it came encrypted to this process.
#[derive(Debug, Clone, Copy)]
pub struct Encrypted;

/// Refuses a request that did not come encrypted, where that is demanded. Gives whether it is.
pub(crate) fn encrypted_only(app: &App, request: &Request) -> Result<bool, Refusal> {
    let config = app.config();
    if !config.requires_https || request.uri().path().starts_with("/health/") {
        return Ok(false);
    }
    let is_encrypted = request.extensions().get::<Encrypted>().is_some();
    if !is_encrypted && (config.proxies == 0 || !came_by_https(request.headers())) {
        return Err(Operating::HttpsRequired.into());
    }
    Ok(true)
}

/// Whether everybody who says how a request came says https. A client may say so too, but not that the proxy does not.
fn came_by_https(headers: &HeaderMap) -> bool {
    let lines = headers.get_all("x-forwarded-proto").iter();
    let mut said = lines.flat_map(|line| line.to_str().unwrap_or_default().split(','));
    let is_https = |scheme: &str| scheme.trim().eq_ignore_ascii_case("https");
    said.next().is_some_and(is_https) && said.all(is_https)
}

/// Refuses a change that a page of another origin asks for.
pub(crate) fn own_pages_only(request: &Request) -> Result<(), Refusal> {
    let is_safe = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    let headers = request.headers();
    if is_sent_by_foreign_page(headers) || !is_safe && is_foreign_page(headers) {
        return Err(Refusal::ForeignPage);
    }
    Ok(())
}

/// Whether a browser says that a page of another site sends this. A GET counts too: some start workflows, and a page can send
/// one as an image. Links from other sites to what people look at are not answers of the API.
fn is_sent_by_foreign_page(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_some_and(|site| site == "cross-site" || site == "same-site")
}

fn is_foreign_page(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else {
        // Only browsers send it, and they do with every request that changes something.
        return false;
    };
    let authority = origin
        .to_str()
        .ok()
        .and_then(|o| o.split_once("://"))
        .map(|(_, a)| a);
    authority.map(split) != host(headers)
}

/// The name and the port that a request calls the server by.
fn host(headers: &HeaderMap) -> Option<(&str, &str)> {
    headers.get(header::HOST)?.to_str().ok().map(split)
}

fn split(authority: &str) -> (&str, &str) {
    match authority.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        Some(_) | None => (authority, ""),
    }
}

fn is_own(name: &str) -> bool {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(n, v)| (n.clone(), v.parse().unwrap()));
        pairs.collect()
    }

    #[test]
    fn own_names_are_those_of_this_machine() {
        for own in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]"] {
            assert!(is_own(own), "{own}");
        }
        for foreign in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "",
            "[::2]",
        ] {
            assert!(!is_own(foreign), "{foreign}");
        }
        assert_eq!(split("[::1]:7070"), ("[::1]", "7070"));
        assert_eq!(split("[::1]"), ("[::1]", ""));
        assert_eq!(split("a:1"), ("a", "1"));
    }

    #[test]
    fn a_browser_says_which_site_asks() {
        let asks = |site| headers(&[(header::HeaderName::from_static("sec-fetch-site"), site)]);
        for foreign in ["cross-site", "same-site"] {
            assert!(is_sent_by_foreign_page(&asks(foreign)));
        }
        for own in ["same-origin", "none"] {
            assert!(!is_sent_by_foreign_page(&asks(own)));
        }
        assert!(!is_sent_by_foreign_page(&HeaderMap::new()));
    }

    #[test]
    fn a_page_is_foreign_unless_it_came_from_this_server() {
        let asks = |origin| headers(&[(header::HOST, "localhost:7070"), (header::ORIGIN, origin)]);
        assert!(!is_foreign_page(&headers(&[(
            header::HOST,
            "localhost:7070"
        )])));
        assert!(!is_foreign_page(&asks("http://localhost:7070")));
        for foreign in ["http://localhost:8080", "https://evil.example", "null"] {
            assert!(is_foreign_page(&asks(foreign)), "{foreign}");
        }
    }
}
