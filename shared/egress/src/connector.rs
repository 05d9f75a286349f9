//! How connections are made: names resolved by the system, addresses checked before anything is sent.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

use crate::address::is_public;

/// How far requests may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses only. For everything a workflow asks for.
    Public,
    /// Every address. For tools that a person points at a server, and where an operator allows it.
    Anywhere,
}

impl Reach {
    /// Whether a connection to the address may be made.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Public => is_public(address),
            Self::Anywhere => true,
        }
    }
}

/// A name that leads only to addresses that must not be reached.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not a public address")]
pub(crate) struct Forbidden(pub(crate) String);

/// Resolves names and keeps only the addresses that may be reached. The connection is made to one of them, so a
/// second answer of the name's server cannot lead elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GuardedResolver(pub(crate) Reach);

impl Service<Name> for GuardedResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, io::Error>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let reach = self.0;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            reachable(reach, name.as_str(), found)
        })
    }
}

/// The addresses of a name that may be reached. The others of the same answer are passed over.
fn reachable(
    reach: Reach,
    name: &str,
    found: impl Iterator<Item = SocketAddr>,
) -> io::Result<std::vec::IntoIter<SocketAddr>> {
    let allowed: Vec<SocketAddr> = found.filter(|at| reach.allows(at.ip())).collect();
    if allowed.is_empty() {
        return Err(io::Error::other(Forbidden(name.to_owned())));
    }
    Ok(allowed.into_iter())
}

/// A connector that takes `https` too, so that TLS can be put around it.
pub(crate) fn connector(reach: Reach) -> HttpConnector<GuardedResolver> {
    let mut connector = HttpConnector::new_with_resolver(GuardedResolver(reach));
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(30)));
    connector
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(addresses: &[&str]) -> io::Result<Vec<String>> {
        let found = addresses
            .iter()
            .map(|text| SocketAddr::new(text.parse().unwrap(), 0));
        let kept = reachable(Reach::Public, "name.example", found)?;
        Ok(kept.map(|at| at.ip().to_string()).collect())
    }

    #[test]
    fn a_name_that_changes_between_two_looks_is_judged_by_each_answer() {
        assert_eq!(answer(&["93.184.216.34"]).unwrap(), ["93.184.216.34"]);
        assert!(answer(&["127.0.0.1"]).is_err());
        assert!(answer(&["169.254.169.254", "::1"]).is_err());
        assert!(answer(&[]).is_err());
    }

    #[test]
    fn an_address_inside_is_no_second_choice_behind_one_outside() {
        let mixed = answer(&[
            "10.0.0.1",
            "93.184.216.34",
            "::ffff:127.0.0.1",
            "2606:4700::1111",
        ]);
        assert_eq!(mixed.unwrap(), ["93.184.216.34", "2606:4700::1111"]);
    }
}
