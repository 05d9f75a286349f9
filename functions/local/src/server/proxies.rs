//! Networks of the proxies in front of the server. Headers in which a proxy says whom it was asked by, and how, count only from
//! connections that come from there.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::Request;
use dormouse_egress::Network;
use dormouse_http::ClientAddress;

/// Headers that only a proxy may set.
const OF_PROXIES: [&str; 5] = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// Networks of the proxies. Empty: every connection comes from a proxy, if there are any.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proxies(Arc<[Network]>);

impl Proxies {
    pub(crate) fn new(networks: &[Network]) -> Self {
        Self(networks.into())
    }

    /// Takes away what a client says that is no proxy, and says its address instead.
    pub(super) fn believe<B>(&self, from: IpAddr, request: &mut Request<B>) {
        if self.0.is_empty() || self.0.iter().any(|network| network.contains(from)) {
            return;
        }
        for name in OF_PROXIES {
            request.headers_mut().remove(name);
        }
        request.extensions_mut().insert(ClientAddress(Some(from)));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn seen(networks: &[Network], from: &str) -> (usize, Option<ClientAddress>) {
        let request = Request::get("/").header("x-forwarded-proto", "https");
        let mut request = request
            .header("x-forwarded-for", "192.0.2.9")
            .body(())
            .unwrap();
        Proxies::new(networks).believe(from.parse().unwrap(), &mut request);
        let address = request.extensions().get::<ClientAddress>().copied();
        (request.headers().len(), address)
    }

    #[test]
    fn only_known_proxies_say_how_and_from_where_a_request_came() {
        let networks = ["10.1.0.0/16".parse().unwrap()];
        assert_eq!(seen(&networks, "10.1.2.3"), (2, None));
        assert_eq!(seen(&networks, "::ffff:10.1.2.3"), (2, None));
        let stranger = "198.51.100.7".parse().unwrap();
        let own = Some(ClientAddress(Some(stranger)));
        assert_eq!(seen(&networks, "198.51.100.7"), (0, own));
        assert_eq!(seen(&[], "198.51.100.7"), (2, None));
    }
}
