//! Keeping web pages out: a browser on this machine reaches the server, and so does every page that it shows.
//!
//! A page of another origin may not change anything through the API. Where the server is for this machine only,
//! requests must name it by one of the machine's own names: a page whose name was pointed at 127.0.0.1 does not. Where
//! nobody is asked for a credential, they must name it by a name that a stranger cannot point at it.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts, OriginalUri, Request};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, header};

use crate::app::App;
use crate::refusal::{Operating, Refusal};

/// Where people reach this server, such as `https://flows.example`: as configured, else as the one who asks does.
#[derive(Debug, Clone)]
pub(crate) struct Here(pub(crate) String);

impl FromRequestParts<App> for Here {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        if let Some(url) = app.public_url() {
            return Ok(Self(url.to_owned()));
        }
        let uri = parts.extensions.get::<OriginalUri>();
        let authority = uri.and_then(|uri| uri.authority()).map(Authority::as_str);
        let named = parts.headers.get(header::HOST);
        let named = named.and_then(|host| host.to_str().ok());
        let host = named.or(authority).unwrap_or("localhost");
        let is_encrypted = parts.extensions.get::<Encrypted>().is_some();
        let is_plain = app.config().is_local && !is_encrypted;
        let scheme = if is_plain { "http" } else { "https" };
        Ok(Self(format!("{scheme}://{host}")))
    }
}

/// Refuses a request under a name that is not this server's.
pub(crate) fn own_names_only(app: &App, request: &Request) -> Result<(), Refusal> {
    // Proxies disagree about which of two counts (RFC 9112, 3.2: such a request is answered with 400).
    if request
        .headers()
        .get_all(header::HOST)
        .iter()
        .nth(1)
        .is_some()
    {
        return Err(Operating::SeveralHosts.into());
    }
    let host = host(request.headers());
    let public = app.public_url();
    let is_taken = if app.config().is_local {
        host.is_some_and(|host| is_own(host.0) || is_public(public, None, host))
    } else if app.identity().authentication().is_open() && came_directly(request) {
        // Browsers always name a host. What a monitor hears of a node's health is not worth a name.
        let is_health = request.uri().path().starts_with("/health/");
        is_health || host.is_none_or(|(name, _)| is_near(name) || is_public_name(public, name))
    } else {
        true
    };
    is_taken.then_some(()).ok_or(Refusal::ForeignHost)
}

/// Whether a request came over a connection to this process that any name can lead to. One that is encrypted came by a name
/// of the certificate, and one that a function gets as an event by a name of its gateway.
fn came_directly(request: &Request) -> bool {
    let extensions = request.extensions();
    extensions.get::<ConnectInfo<SocketAddr>>().is_some() && extensions.get::<Encrypted>().is_none()
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
pub(crate) fn own_pages_only(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    let is_foreign = !is_safe(method) && is_foreign_page(app.public_url(), headers);
    if is_foreign || is_sent_by_foreign_page(headers) {
        return Err(Refusal::ForeignPage);
    }
    Ok(())
}

/// Refuses what starts or changes something and may be of a page of another origin, where nobody is asked for a credential:
/// a GET too, for which browsers do not always say where it comes from.
pub(crate) fn no_pages_without_origin(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    own_pages_only(app, method, headers)?;
    if is_safe(method) && may_be_of_page(headers) {
        return Err(Refusal::ForeignPage);
    }
    Ok(())
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a browser sends this, and does not say that it is for its user or for a page of this server. To a server that it
/// reaches by plain HTTP, it says that of localhost only. A header that no page can add to an image or a link shows that no
/// such page asks; `Basic` is none, because it can be written into an address.
fn may_be_of_page(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // PowerShell calls itself a browser.
    let is_browser = text("user-agent")
        .is_some_and(|agent| agent.starts_with("Mozilla/") && !agent.contains("PowerShell"));
    let is_own = matches!(text("sec-fetch-site"), Some("none" | "same-origin"));
    let is_marked = headers.contains_key("x-requested-with")
        || text("authorization").is_some_and(|text| !text.to_lowercase().starts_with("basic"))
        || text("content-type").is_some_and(|kind| kind.contains("json"));
    is_browser && !is_own && !is_marked
}

/// Whether a browser says that a page of another site sends this. A GET counts too: some start workflows, and a page can send
/// one as an image. Links from other sites to what people look at are not answers of the API.
fn is_sent_by_foreign_page(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_some_and(|site| site == "cross-site" || site == "same-site")
}

fn is_foreign_page(public: Option<&str>, headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else {
        // Only browsers send it, and they do with every request that changes something.
        return false;
    };
    let Some((scheme, authority)) = origin.to_str().ok().and_then(|o| o.split_once("://")) else {
        return true;
    };
    let page = split(authority);
    // A proxy may pass on the name that it was asked by, or not.
    Some(page) != host(headers) && !is_public(public, Some(scheme), page)
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

/// Whether no stranger can point a name at this server: an address, or a name that no public name server answers for.
fn is_near(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let ends = [".local", ".internal", ".localhost", ".home.arpa", ".svc"];
    bare.parse::<IpAddr>().is_ok()
        || !name.contains('.')
        || ends.iter().any(|end| name.ends_with(end))
}

/// Whether a name and a port are those of the public address. The port that its scheme has anyway may be left out.
fn is_public(public: Option<&str>, scheme: Option<&str>, (name, port): (&str, &str)) -> bool {
    let Some((own_scheme, (_, own_port))) = public.and_then(parts) else {
        return false;
    };
    let scheme = scheme.unwrap_or(own_scheme);
    is_public_name(public, name) && port_of(scheme, port) == port_of(own_scheme, own_port)
}

fn is_public_name(public: Option<&str>, name: &str) -> bool {
    public
        .and_then(parts)
        .is_some_and(|(_, (own, _))| own.eq_ignore_ascii_case(name))
}

/// The scheme, the name and the port of an address.
fn parts(url: &str) -> Option<(&str, (&str, &str))> {
    let (scheme, rest) = url.split_once("://")?;
    Some((scheme, split(rest.split('/').next()?)))
}

fn port_of<'a>(scheme: &str, port: &'a str) -> &'a str {
    match (scheme.to_ascii_lowercase().as_str(), port) {
        ("https", "") => "443",
        ("http", "") => "80",
        (_, port) => port,
    }
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
        let is_foreign = |headers: &HeaderMap| is_foreign_page(None, headers);
        assert!(!is_foreign(&headers(&[(header::HOST, "localhost:7070")])));
        assert!(!is_foreign(&asks("http://localhost:7070")));
        for foreign in ["http://localhost:8080", "https://evil.example", "null"] {
            assert!(is_foreign(&asks(foreign)), "{foreign}");
        }
    }

    #[test]
    fn a_page_under_the_public_address_is_own_whatever_name_the_proxy_passes_on() {
        let public = Some("https://flows.example/console");
        for host in ["127.0.0.1:7070", "flows.example", "flows.example:443"] {
            let asks = |origin| headers(&[(header::HOST, host), (header::ORIGIN, origin)]);
            assert!(!is_foreign_page(public, &asks("https://flows.example")));
            for foreign in [
                "http://flows.example",
                "https://flows.example:8443",
                "https://evil.example",
            ] {
                let is_same = foreign == "http://flows.example" && host == "flows.example";
                let foreign_page = is_foreign_page(public, &asks(foreign));
                assert_eq!(foreign_page, !is_same, "{foreign} {host}");
            }
        }
        for host in ["flows.example", "FLOWS.example", "flows.example:443"] {
            assert!(is_public(public, None, split(host)), "{host}");
        }
        for host in ["flows.example:80", "evil.example", "a.flows.example", ""] {
            assert!(!is_public(public, None, split(host)), "{host}");
        }
    }

    #[test]
    fn a_near_name_is_one_that_no_stranger_can_point_here() {
        for near in [
            "192.168.1.7",
            "[fd00::7]",
            "localhost",
            "build-box",
            "box.local",
            "Box.Local.",
            "a.b.internal",
            "x.localhost",
            "nas.home.arpa",
        ] {
            assert!(is_near(near), "{near}");
        }
        for far in ["evil.example", "192.168.1.7.nip.io", "local.evil.example"] {
            assert!(!is_near(far), "{far}");
        }
    }

    #[test]
    fn a_browser_that_does_not_say_who_asks_may_ask_for_a_page() {
        let name = header::HeaderName::from_static;
        let asks = |more: &[(header::HeaderName, &str)]| {
            let browser = (header::USER_AGENT, "Mozilla/5.0 (X11; Linux x86_64)");
            may_be_of_page(&headers(&[&[browser], more].concat()))
        };
        assert!(asks(&[]));
        assert!(asks(&[(header::AUTHORIZATION, "Basic dXNlcjpwYXNz")]));
        assert!(!asks(&[(name("sec-fetch-site"), "none")]));
        assert!(!asks(&[(name("sec-fetch-site"), "same-origin")]));
        assert!(!asks(&[(name("x-requested-with"), "fetch")]));
        assert!(!asks(&[(header::AUTHORIZATION, "Bearer a")]));
        assert!(!asks(&[(header::CONTENT_TYPE, "application/json")]));
        for program in ["curl/8.5.0", "Mozilla/5.0 WindowsPowerShell/5.1"] {
            assert!(!may_be_of_page(&headers(&[(header::USER_AGENT, program)])));
        }
    }
}
