//! Where a request comes from: what the adapter in front of the routes says, never a header that anybody can write.

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;

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

impl<S: Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        if let Some(said) = parts.extensions.get::<Self>() {
            return Ok(*said);
        }
        let connection = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Ok(Self(connection.map(|ConnectInfo(address)| address.ip())))
    }
}
