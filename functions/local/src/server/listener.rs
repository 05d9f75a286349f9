//! The nodes' ports: all of them are taken before any of them serves.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::admission::Admission;
use super::connection::{self, Site};
use super::limits::ConnectionLimits;
use super::proxies::Proxies;
use super::signal::Stop;
use super::tls::Tls;
use crate::exit::Exit;
use crate::failure::Failure;

/// Pause after a connection could not be accepted.
const ACCEPT_AGAIN: Duration = Duration::from_millis(20);

/// The ports of all nodes, in order.
pub(crate) struct Listeners(Vec<TcpListener>);

/// Settings of connections.
pub(crate) struct Serving {
    pub(crate) limits: ConnectionLimits,
    /// `None`: what is sent is not encrypted.
    pub(crate) tls: Option<Tls>,
    pub(crate) proxies: Proxies,
}

/// The address that a `--host` names.
pub(crate) fn address(host: &str) -> Result<IpAddr, Failure> {
    let host = if host == "localhost" {
        "127.0.0.1"
    } else {
        host
    };
    host.parse().map_err(|_| {
        Failure::new(
            Exit::BadInput,
            "badHost",
            format!("`{host}` is not an IP address"),
        )
        .help("127.0.0.1 is for this machine only, 0.0.0.0 for everybody who reaches it")
    })
}

impl Listeners {
    /// Takes so many ports from `port` on; 0 takes any that are free.
    pub(crate) async fn bind(host: IpAddr, port: u16, nodes: u16) -> Result<Self, Failure> {
        let mut listeners = Vec::new();
        for n in 0..nodes {
            let own = match port {
                0 => 0,
                first => first.checked_add(n).ok_or_else(|| {
                    Failure::new(
                        Exit::BadInput,
                        "badPort",
                        format!("there is no port after 65535 for node {n}"),
                    )
                    .help("choose a lower --port")
                })?,
            };
            let listener = TcpListener::bind((host, own)).await;
            listeners.push(listener.map_err(|e| unbound(host, own, &e))?);
        }
        Ok(Self(listeners))
    }

    /// The addresses that were taken.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.0.iter().filter_map(|l| l.local_addr().ok()).collect()
    }

    /// True if only this machine can reach them.
    pub(crate) fn are_local(&self) -> bool {
        self.addresses()
            .iter()
            .all(|address| address.ip().is_loopback())
    }

    /// Serves each node's routes on its port. When `stop` turns true nothing new is accepted, and it returns when
    /// what was accepted is answered.
    pub(crate) async fn serve(self, routers: Vec<Router>, how: Serving, stop: Stop) {
        let admission = Admission::new(how.limits);
        let mut serving = JoinSet::new();
        for (listener, router) in self.0.into_iter().zip(routers) {
            let site = Site {
                router,
                tls: how.tls.clone(),
                proxies: how.proxies.clone(),
            };
            serving.spawn(accept(listener, site, admission.clone(), stop.clone()));
        }
        if let Some(tls) = how.tls {
            serving.spawn(tls.follow_files(stop));
        }
        while serving.join_next().await.is_some() {}
    }
}

/// Accepts connections until `stop` turns true, and returns when those that were accepted have ended.
async fn accept(listener: TcpListener, site: Site, admission: Admission, stop: Stop) {
    let extra = Site {
        router: dormouse_http::overloaded(),
        ..site.clone()
    };
    let mut connections = JoinSet::new();
    let mut asked = stop.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _sender_gone = asked.wait_for(|stop| *stop) => break,
        };
        while connections.try_join_next().is_some() {}
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // A client that went, or no file is left: both pass.
                tracing::debug!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
                continue;
            }
        };
        // Without even an extra place the connection is closed here.
        let Some(place) = admission.admit(address.ip()) else {
            continue;
        };
        let number = place.number();
        let site = match number {
            Some(_) => site.clone(),
            None => extra.clone(),
        };
        let served = connection::serve(stream, address, place, site, stop.clone());
        admission.begun(number, connections.spawn(served));
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

fn unbound(host: IpAddr, port: u16, error: &std::io::Error) -> Failure {
    let address = SocketAddr::new(host, port);
    let kind = error.kind();
    if kind == ErrorKind::AddrInUse {
        let message = format!("the port {port} is in use: something listens at {address} already");
        Failure::new(Exit::Conflict, "portInUse", message)
            .help("is a server running there? Use it, stop it, or choose another port with --port")
    } else if kind == ErrorKind::PermissionDenied {
        let message = format!("this user may not listen at {address}");
        Failure::new(Exit::BadInput, "portForbidden", message)
            .help("ports below 1024 are for administrators; choose a higher one with --port")
    } else {
        let message = format!("cannot listen at {address}: {error}");
        Failure::new(Exit::BadInput, "badAddress", message)
            .help("--host takes an address of this machine")
    }
}
