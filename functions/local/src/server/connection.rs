//! One connection: its requests are answered by the routes, and it ends when the server stops.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tower_service::Service;

use super::admission::Place;
use super::signal::Stop;
use super::watched::Watched;

/// The largest head of a request, in bytes; also what is read at once of a body.
const HEAD_BYTES_MAX: usize = 32 << 10;

/// Serves a connection until its client or the server has enough.
pub(super) async fn serve(
    stream: TcpStream,
    address: SocketAddr,
    place: Place,
    router: Router,
    mut stop: Stop,
) {
    // Answers are small: waiting to fill a packet would cost up to 40 ms each.
    let _slower_then = stream.set_nodelay(true);
    let phase = place.phase.clone();
    let service = service_fn(|request: Request<Incoming>| {
        let working = phase.work();
        let answer = answer(request, address, router.clone());
        async move {
            let answer = answer.await;
            drop(working);
            answer
        }
    });
    let io = TokioIo::new(Watched::new(stream, place.phase.clone()));
    let mut builder = http1::Builder::new();
    // Timeouts are the connection's own, see `Watched`.
    let builder = builder
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(HEAD_BYTES_MAX)
        // An extra connection is for one question.
        .keep_alive(place.number().is_some());
    let mut connection = pin!(builder.serve_connection(io, service));
    let asked = stop.wait_for(|stop| *stop);
    tokio::select! {
        // What goes wrong with a connection is its client's business.
        _ended = connection.as_mut() => return,
        _sender_gone = asked => connection.as_mut().graceful_shutdown(),
    }
    let _ended = connection.await;
    drop(place);
}

async fn answer(
    request: Request<Incoming>,
    address: SocketAddr,
    mut router: Router,
) -> Result<Response<Body>, Infallible> {
    let mut request = request.map(Body::new);
    // Limits are by client address.
    request.extensions_mut().insert(ConnectInfo(address));
    router.call(request).await
}
