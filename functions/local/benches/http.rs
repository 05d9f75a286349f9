//! HTTP workflows beside a bare server of the same framework that answers the same body, in one run:
//! `cargo bench -p dormouse --bench http`.
//!
//! The workflow is an endpoint, a variable that is set, and a response. Every request is an instance: it is durable
//! before it is answered. Load comes from this process, and so does the bare server, on the same machine.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a bench prints, reads the clock, and may stop at once"
)]

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use axum::Router;
use axum::routing::get;
use dormouse_tests::api::publish;
use dormouse_tests::http_client::Client;
use dormouse_tests::primitives::{endpoint, respond, sequence, set};
use dormouse_tests::server::Server;
use dormouse_tests::workflow;
use serde_json::json;

/// Answer of both servers.
const BODY: &str = "Hello World!";

/// Number of requests to measure for each number of clients.
const REQUESTS: usize = 10_000;

/// The binary to measure; `DORMOUSE_BINARY` names another build of it.
fn binary() -> PathBuf {
    std::env::var_os("DORMOUSE_BINARY")
        .map_or_else(|| env!("CARGO_BIN_EXE_dormouse").into(), PathBuf::from)
}

/// A server that only answers. Gives its port.
fn bare(tokio: &tokio::runtime::Runtime) -> u16 {
    let listener = tokio.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
    let listener = listener.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = Router::new().route("/workflows/page", get(|| async { BODY }));
    tokio.spawn(async move { axum::serve(listener, router).await });
    port
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let tokio = tokio::runtime::Runtime::new().unwrap();
    let bare = bare(&tokio);
    let server = Server::start(&binary(), &folder.path().join("data"), 1);
    let page = sequence([endpoint("page", &["GET"]), set("seen", true), respond(BODY)]);
    let page = workflow("page", page).variable("seen", "Boolean", json!(false));
    publish(&mut server.client(0), page.json());
    println!(
        "{:<24} {:>8} {:>10} {:>10} {:>10} {:>8}",
        "", "clients", "per s", "p50 ms", "p99 ms", "ratio"
    );
    for clients in [1, 16, 64] {
        let (rate, times) = load(bare, clients);
        report("bare server", clients, rate, &times, 1.0);
        let (own, times) = load(server.port, clients);
        report("workflow", clients, own, &times, rate / own);
    }
}

/// Asks for the page from so many clients; gives the rate and every request's time in ms, sorted.
fn load(port: u16, clients: usize) -> (f64, Vec<f64>) {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::with_capacity(REQUESTS));
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut client = Client::new(port);
                let mut times = Vec::new();
                while next.fetch_add(1, Ordering::Relaxed) < REQUESTS {
                    let begin = Instant::now();
                    let answer = client.get("/workflows/page").unwrap();
                    times.push(begin.elapsed().as_secs_f64() * 1e3);
                    assert_eq!(answer.body, BODY.as_bytes());
                }
                all.lock().unwrap().extend(times);
            });
        }
    });
    let rate = REQUESTS as f64 / begin.elapsed().as_secs_f64();
    let mut times = all.into_inner().unwrap();
    times.sort_by(f64::total_cmp);
    (rate, times)
}

fn report(what: &str, clients: usize, rate: f64, times: &[f64], ratio: f64) {
    let p = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!(
        "{what:<24} {clients:>8} {rate:>10.0} {:>10.2} {:>10.2} {ratio:>8.1}",
        p(50),
        p(99)
    );
}
