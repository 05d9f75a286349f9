//! Where a request comes from: what the adapter in front of the routes says, or as many proxies as are known to stand
//! before it; never a header that anybody can write.

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::request::Parts;

use crate::app::App;

/// The address of whoever sent a request. The adapter puts it among the request's extensions, or serves with the
/// addresses of connections (`into_make_service_with_connect_info::<SocketAddr>`). Unknown ones count as one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientAddress(pub Option<IpAddr>);

impl ClientAddress {
    /// As text, where it is known.
    pub(crate) fn text(&self) -> Option<String> {
        self.0.map(|ip| ip.to_string())
    }

    /// What is limited together: an address, or a network of IPv6, of which one customer has a whole one.
    pub(crate) fn limited_as(&self) -> Option<IpAddr> {
        match self.0.map(|ip| ip.to_canonical()) {
            Some(IpAddr::V6(ip)) => {
                let network = u128::from(ip) >> 64 << 64;
                Some(IpAddr::V6(network.into()))
            }
            other => other,
        }
    }
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(ip) => ip.fmt(f),
            None => f.write_str("unknown"),
        }
    }
}

/// The address that the first of so many proxies saw. Each adds to the header whom it was asked by; whatever stands
/// before that was sent by the client.
fn forwarded(headers: &HeaderMap, proxies: usize) -> Option<IpAddr> {
    let lines = headers.get_all("x-forwarded-for").iter();
    let texts = lines.filter_map(|line| line.to_str().ok());
    let all: Vec<&str> = texts.flat_map(|text| text.split(',')).collect();
    let place = all.len().checked_sub(proxies)?;
    let entry = all.get(place)?.trim();
    let address = address(entry);
    if address.is_none() {
        tell_of_entry(entry);
    }
    address
}

/// The address of an entry. Some proxies add the port that they were asked from, and brackets.
fn address(entry: &str) -> Option<IpAddr> {
    let with_port = || entry.parse::<SocketAddr>().ok();
    let in_brackets = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let bare = entry.parse().ok();
    bare.or_else(|| with_port().map(|address| address.ip()))
        .or_else(|| in_brackets().map(IpAddr::V6))
}

/// Says once that a proxy writes what is no address: then all its clients are limited as one.
fn tell_of_entry(entry: &str) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if !IS_TOLD.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            entry,
            "X-Forwarded-For has an entry that is no IP address, and rate limits count all such clients as one: check --behind-proxies, and that the proxy writes the client's address"
        );
    }
}

/// Says once that a proxy seems to stand before the server that it was not told of: then all its clients are limited as one.
fn tell_of_proxy(headers: &HeaderMap, connection: Option<&ConnectInfo<SocketAddr>>) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    let is_private = |ip: IpAddr| match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_private() || ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_loopback(),
    };
    let is_near = connection.is_some_and(|ConnectInfo(address)| is_private(address.ip()));
    if is_near && headers.contains_key("x-forwarded-for") && !IS_TOLD.swap(true, Ordering::Relaxed)
    {
        tracing::warn!(
            "requests come through a proxy, and rate limits count all its clients as one: say how many proxies there are with --behind-proxies"
        );
    }
}

impl FromRequestParts<App> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        if let Some(said) = parts.extensions.get::<Self>() {
            return Ok(*said);
        }
        let proxies = app.config().proxies;
        if proxies > 0 {
            return Ok(Self(forwarded(&parts.headers, proxies)));
        }
        let connection = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        tell_of_proxy(&parts.headers, connection);
        Ok(Self(connection.map(|ConnectInfo(address)| address.ip())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_writes_before_the_proxies_do_is_not_believed() {
        let mut headers = HeaderMap::new();
        let mut add = |text: &str| headers.append("x-forwarded-for", text.parse().unwrap());
        add("10.0.0.9, 192.0.2.1");
        add("198.51.100.7");
        let of = |proxies| forwarded(&headers, proxies).map(|ip| ip.to_string());
        assert_eq!(of(1).as_deref(), Some("198.51.100.7"));
        assert_eq!(of(2).as_deref(), Some("192.0.2.1"));
        assert_eq!(of(4), None);
        assert_eq!(forwarded(&HeaderMap::new(), 1), None);
    }

    #[test]
    fn an_entry_may_have_a_port_and_brackets() {
        for (entry, expected) in [
            ("192.0.2.1", "192.0.2.1"),
            ("192.0.2.1:5678", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:5678", "2001:db8::1"),
        ] {
            let found = address(entry).map(|ip| ip.to_string());
            assert_eq!(found.as_deref(), Some(expected), "{entry}");
        }
        for none in ["", "unknown", "_hidden", "192.0.2.1:", "[192.0.2.1]"] {
            assert_eq!(address(none), None, "{none}");
        }
    }
}
