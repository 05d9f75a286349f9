//! Connections that send a part of a head, and then nothing.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::site::{exchange, files, request, server};

/// Half-open connections: more than the usual limit of open files.
const HALF_OPEN: usize = 1_100;

/// Connections that send a part of a head and then nothing.
pub(crate) fn half_open(port: u16, count: usize) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").ok()?;
        Some(stream)
    };
    (0..count).filter_map(open).collect()
}

#[test]
fn half_open_connections_are_closed_and_the_server_answers_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server(folder.path());
    let live = request("GET", "/health/live", "", b"");
    let held = half_open(server.port, HALF_OPEN);
    assert_eq!(held.len(), HALF_OPEN);
    for _ in 0..20 {
        assert_eq!(exchange(server.port, &live).unwrap().0, 200);
    }
    // One address holds half of all connections at most; the oldest made room.
    let many = files(&server);
    assert!((900..HALF_OPEN).contains(&many), "{many} files are open");
    let began = Instant::now();
    while files(&server) > HALF_OPEN / 2 {
        assert!(
            began.elapsed() < Duration::from_secs(15),
            "they are still open"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}
