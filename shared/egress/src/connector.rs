//! How connections are made: names resolved by the system, addresses checked before anything is sent.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

use crate::address::is_public;
use crate::network::Network;

/// What a lookup is: something to wait for, on any thread.
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How far requests may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses only. For everything a workflow asks for.
    Public,
    /// Public addresses, and networks that an operator has named.
    PublicAnd(Arc<[Network]>),
    /// Every address. For tools that a person points at a server, and where an operator allows it.
    Anywhere,
}

impl Reach {
    /// Public addresses, and these networks.
    #[must_use]
    pub fn public_and(networks: &[Network]) -> Self {
        match networks {
            [] => Self::Public,
            networks => Self::PublicAnd(networks.into()),
        }
    }

    /// Whether a connection to the address may be made.
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> bool {
        match self {
            Self::Public => is_public(address),
            Self::PublicAnd(networks) => {
                is_public(address) || networks.iter().any(|network| network.contains(address))
            }
            Self::Anywhere => true,
        }
    }
}

/// Looks up the addresses of names.
pub trait Names: Send + Sync + 'static {
    /// The addresses of a name, as it has them now.
    fn addresses(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Names as the system knows them.
pub(crate) struct SystemNames;

impl Names for SystemNames {
    fn addresses(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|at| at.ip()).collect())
        })
    }
}

/// A name that leads only to addresses that must not be reached.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not a public address")]
pub(crate) struct Forbidden(pub(crate) String);

/// Resolves names and keeps only the addresses that may be reached. The connection is made to one of them, so a
/// second answer of the name's server cannot lead elsewhere.
#[derive(Clone)]
pub(crate) struct GuardedResolver {
    pub(crate) reach: Reach,
    pub(crate) names: Arc<dyn Names>,
}

impl std::fmt::Debug for GuardedResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("GuardedResolver").field(&self.reach).finish()
    }
}

impl Service<Name> for GuardedResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, io::Error>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let Self { reach, names } = self.clone();
        Box::pin(async move {
            let found = names.addresses(name.as_str().to_owned()).await?;
            reachable(&reach, name.as_str(), found)
        })
    }
}

/// The addresses of a name that may be reached. The others of the same answer are passed over.
fn reachable(
    reach: &Reach,
    name: &str,
    found: Vec<IpAddr>,
) -> io::Result<std::vec::IntoIter<SocketAddr>> {
    let allowed = found.into_iter().filter(|at| reach.allows(*at));
    let allowed: Vec<SocketAddr> = allowed.map(|at| SocketAddr::new(at, 0)).collect();
    if allowed.is_empty() {
        return Err(io::Error::other(Forbidden(name.to_owned())));
    }
    Ok(allowed.into_iter())
}

/// A connector that takes `https` too, so that TLS can be put around it.
pub(crate) fn connector(resolver: GuardedResolver) -> HttpConnector<GuardedResolver> {
    let mut connector = HttpConnector::new_with_resolver(resolver);
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(Duration::from_secs(30)));
    connector
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(addresses: &[&str]) -> io::Result<Vec<String>> {
        let found = addresses.iter().map(|text| text.parse().unwrap());
        let kept = reachable(&Reach::Public, "name.example", found.collect())?;
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
