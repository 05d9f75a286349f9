//! One connection: its requests are answered by the routes, and it ends when the server stops.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, Request, Response, Uri, Version, header};
use dormouse_http::{Beside, Encrypted};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tower_service::Service;

use super::admission::Place;
use super::proxies::Proxies;
use super::signal::Stop;
use super::taken::Answers;
use super::tls::Tls;
use super::watched::Watched;

/// The largest head of a request, in bytes; also what is read at once of a body.
const HEAD_BYTES_MAX: usize = 32 << 10;

/// Time for the handshake of TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Requests of one HTTP/2 connection at once; the next one is refused and may be repeated.
const STREAMS_MAX: u32 = 32;

/// Requests that a client takes back before the server has looked at them; one more ends the connection.
const RESETS_MAX: usize = 20;

/// Flow-control window of a request and of a connection: the minimum of the protocol, in bytes.
const WINDOW_BYTES: u32 = 65_535;

/// Bytes of an answer that are held for a connection besides the answer.
const SENT_BYTES: usize = 32 << 10;

/// Pause between two looks at the answers of a connection.
const LOOK: Duration = Duration::from_secs(5);

/// Server of the connections of a node.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) router: Router,
    /// `None`: what is sent is not encrypted.
    pub(super) tls: Option<Tls>,
    pub(super) proxies: Proxies,
}

/// Serves a connection until its client or the server has enough.
pub(super) async fn serve(
    stream: TcpStream,
    address: SocketAddr,
    place: Place,
    site: Site,
    mut stop: Stop,
) {
    // Answers are small: waiting to fill a packet would cost up to 40 ms each.
    let _slower_then = stream.set_nodelay(true);
    let Some(tls) = &site.tls else {
        return Box::pin(talk(stream, address, place, site, stop)).await;
    };
    let shaken = tls.acceptor(place.number().is_none()).accept(stream);
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(HANDSHAKE, shaken) => shaken,
        _sender_gone = stop.wait_for(|stop| *stop) => return,
    };
    // What goes wrong with a handshake is its client's business.
    if let Ok(Ok(stream)) = shaken {
        Box::pin(talk(stream, address, place, site, stop)).await;
    }
}

async fn talk<T>(stream: T, address: SocketAddr, place: Place, site: Site, mut stop: Stop)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let phase = place.phase.clone();
    let answers = Answers::default();
    let sent = answers.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let working = phase.work();
        let is_http2 = request.version() == Version::HTTP_2;
        let mut request = arrived(request, address, &site);
        if !working.is_first {
            request.extensions_mut().insert(Beside);
        }
        let mut router = site.router.clone();
        let sent = is_http2.then(|| sent.clone());
        async move {
            let answer: Result<Response<Body>, Infallible> = router.call(request).await;
            drop(working);
            match sent {
                Some(sent) => answer.map(|answer| answer.map(|body| sent.watch(body))),
                None => answer,
            }
        }
    });
    let io = TokioIo::new(Watched::new(stream, place.phase.clone()));
    let builder = builder(place.number().is_none());
    let mut connection = pin!(builder.serve_connection(io, service));
    let mut look = tokio::time::interval(LOOK);
    let mut is_asked = *stop.borrow();
    if is_asked {
        connection.as_mut().graceful_shutdown();
    }
    loop {
        tokio::select! {
            // What goes wrong with a connection is its client's business.
            _ended = connection.as_mut() => break,
            _sender_gone = stop.wait_for(|stop| *stop), if !is_asked => {
                is_asked = true;
                connection.as_mut().graceful_shutdown();
            }
            _now = look.tick() => if answers.is_late() {
                break;
            },
        }
    }
    drop(place);
}

/// Timeouts are the connection's own, see [`Watched`] and [`Answers`].
fn builder(is_extra: bool) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(HEAD_BYTES_MAX)
        // An extra connection is for one question.
        .keep_alive(!is_extra);
    builder
        .http2()
        .max_concurrent_streams(STREAMS_MAX)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .max_local_error_reset_streams(RESETS_MAX)
        .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_send_buf_size(SENT_BYTES);
    match is_extra {
        true => builder.http1_only(),
        false => builder,
    }
}

/// A request as the routes see it, however it arrived.
fn arrived(request: Request<Incoming>, address: SocketAddr, site: &Site) -> Request<Body> {
    let mut request = request.map(Body::new);
    name_host(&mut request);
    site.proxies.believe(address.ip(), &mut request);
    let extensions = request.extensions_mut();
    // Limits are by client address.
    extensions.insert(ConnectInfo(address));
    if site.tls.is_some() {
        extensions.insert(Encrypted);
    }
    request
}

/// HTTP/2 names the host before the path, HTTP/1.1 in a header. Here it is in the header, and nowhere else.
fn name_host<B>(request: &mut Request<B>) {
    let Some(authority) = request.uri().authority() else {
        return;
    };
    if let Ok(host) = HeaderValue::from_str(authority.as_str()) {
        request.headers_mut().insert(header::HOST, host);
    }
    let path = request.uri().path_and_query().cloned();
    let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn the_host_before_the_path_replaces_the_header() {
        let request = Request::get("https://good.example:1/a/b?c=d").header("host", "evil.example");
        let mut request = request.body(()).unwrap();
        name_host(&mut request);
        assert_eq!(request.headers()["host"], "good.example:1");
        assert_eq!(request.headers().get_all("host").iter().count(), 1);
        assert_eq!(request.uri(), "/a/b?c=d");
    }
}
