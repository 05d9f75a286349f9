//! HTTP/2 as no decent client speaks it: requests that are taken back at once, heads without end, more requests than are allowed,
//! answers that are not taken.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::site::{MEMORY_BYTES_MAX, exchange, request, server};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// What a server says when it has enough of a client (RFC 9113, section 7).
const ENHANCE_YOUR_CALM: u32 = 11;
const REFUSED_STREAM: u32 = 7;

/// A frame that arrived.
#[derive(Debug)]
struct Frame {
    kind: u8,
    stream: u32,
    payload: Vec<u8>,
}

impl Frame {
    /// The number at the end of its first part: why a stream or a connection is ended.
    fn reason(&self) -> u32 {
        let at = if self.kind == GO_AWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

/// A connection that writes any frames.
struct Raw(TcpStream);

impl Raw {
    /// Begins as the protocol has it, with settings.
    fn open(port: u16, settings: &[(u16, u32)]) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
            .set_write_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut raw = Self(stream);
        raw.0
            .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .unwrap();
        let settings = settings
            .iter()
            .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()[..]].concat());
        raw.send(SETTINGS, 0, 0, &settings.collect::<Vec<u8>>())
            .unwrap();
        raw
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> std::io::Result<()> {
        self.0.write_all(&frame(kind, flags, stream, payload))
    }

    /// The next frame. `None`: the server has closed.
    fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).ok()?;
        Some(Frame {
            kind: head[3],
            stream: u32::from_be_bytes(head[5..9].try_into().unwrap()) & 0x7fff_ffff,
            payload,
        })
    }

    /// Reads on until a frame is as wanted.
    fn until(&mut self, is_wanted: impl Fn(&Frame) -> bool) -> Option<Frame> {
        loop {
            let frame = self.next()?;
            if is_wanted(&frame) {
                return Some(frame);
            }
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A literal header that is not indexed; its name and value are short.
fn literal(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).ok().filter(|n| *n < 127).unwrap();
    let parts = [&[0, length(name)], name.as_bytes(), &[length(value)]];
    [&parts.concat(), value.as_bytes()].concat()
}

/// The head of a request.
fn head(method: &str, path: &str) -> Vec<u8> {
    [
        literal(":method", method),
        literal(":scheme", "http"),
        literal(":authority", "localhost"),
        literal(":path", path),
    ]
    .concat()
}

/// Other clients are answered, and memory is as it should be.
#[track_caller]
fn is_well(server: &dormouse_tests::server::Server) {
    let live = request("GET", "/health/live", "", b"");
    assert_eq!(exchange(server.port, &live).unwrap().0, 200);
    let memory = server.memory_bytes();
    assert!(memory < MEMORY_BYTES_MAX, "{memory}");
}

#[test]
fn http2_is_spoken_to_who_knows_it() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server(folder.path());
    let mut raw = Raw::open(server.port, &[]);
    let live = head("GET", "/health/live");
    raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &live)
        .unwrap();
    let body = raw.until(|f| f.kind == DATA && f.stream == 1).unwrap();
    assert!(String::from_utf8_lossy(&body.payload).contains("Healthy"));
    // A name that is not this machine's is refused there, too.
    let foreign = [
        literal(":method", "GET"),
        literal(":scheme", "http"),
        literal(":authority", "evil.example"),
        literal(":path", "/health/live"),
    ];
    raw.send(HEADERS, END_HEADERS | END_STREAM, 3, &foreign.concat())
        .unwrap();
    let body = raw.until(|f| f.kind == DATA && f.stream == 3).unwrap();
    assert!(String::from_utf8_lossy(&body.payload).contains("foreignHost"));
}

#[test]
fn requests_that_are_taken_back_at_once_end_their_connection() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server(folder.path());
    let mut ended = 0;
    for _ in 0..5 {
        let mut raw = Raw::open(server.port, &[]);
        let start = head("POST", "/elsa/api/identity/login");
        let mut flood = Vec::new();
        for stream in (1..20_000).step_by(2) {
            flood.extend(frame(HEADERS, END_HEADERS, stream, &start));
            flood.extend(frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()));
        }
        // The server may close before all is sent.
        let _sent = raw.0.write_all(&flood);
        match raw.until(|f| f.kind == GO_AWAY) {
            Some(frame) => {
                assert_eq!(frame.reason(), ENHANCE_YOUR_CALM, "{frame:?}");
                ended += 1;
            }
            // What was sent after the end makes the system drop what was not read.
            None => ended += 1,
        }
        is_well(&server);
    }
    assert_eq!(ended, 5);
}

#[test]
fn a_head_without_end_ends_its_connection() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server(folder.path());
    let mut raw = Raw::open(server.port, &[]);
    raw.send(HEADERS, 0, 1, &head("GET", "/health/live"))
        .unwrap();
    let part = literal("x-more", &"y".repeat(120)).repeat(100);
    let mut sent = 0;
    // Until it is closed: a hundred megabytes would be believed otherwise.
    while sent < 100 << 20 && raw.send(CONTINUATION, 0, 1, &part).is_ok() {
        sent += part.len();
    }
    assert!(sent < 20 << 20, "{sent} bytes of one head were taken");
    is_well(&server);
    // One that ends is told that it is too large.
    let mut raw = Raw::open(server.port, &[]);
    raw.send(HEADERS, END_STREAM, 1, &head("GET", "/health/live"))
        .unwrap();
    for _ in 0..3 {
        raw.send(CONTINUATION, 0, 1, &part).unwrap();
    }
    raw.send(CONTINUATION, END_HEADERS, 1, &part).unwrap();
    let answer = raw.until(|f| matches!(f.kind, HEADERS | RST_STREAM | GO_AWAY));
    let answer = answer.unwrap();
    // The status 431, in the code of Huffman that heads are written in.
    assert_eq!(answer.kind, HEADERS, "{answer:?}");
    assert!(
        answer.payload.starts_with(b"\x48\x83\x69\x90\xff"),
        "{answer:?}"
    );
    is_well(&server);
}

#[test]
fn more_requests_at_once_than_are_allowed_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server(folder.path());
    let mut raw = Raw::open(server.port, &[]);
    let start = head("POST", "/elsa/api/identity/login");
    // Each begins a body and withholds the rest. They arrive together: some are answered at once, for a stranger has not
    // that many bodies at a time, and the others are still open. A server that has refused many may close the connection.
    let begun = (1..400).step_by(2).flat_map(|stream| {
        let head = frame(HEADERS, END_HEADERS, stream, &start);
        head.into_iter().chain(frame(DATA, 0, stream, b"{"))
    });
    let _closed_meanwhile = raw.0.write_all(&begun.collect::<Vec<u8>>());
    let refused = raw.until(|f| f.kind == RST_STREAM && f.reason() == REFUSED_STREAM);
    let refused = refused.expect("one of them is one too many");
    assert!(refused.stream > 64, "{refused:?}");
    is_well(&server);
}

#[test]
fn floods_of_pings_and_settings_take_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server(folder.path());
    for (kind, payload) in [(PING, &[0; 8][..]), (SETTINGS, &[])] {
        let mut raw = Raw::open(server.port, &[]);
        let flood = frame(kind, 0, 0, payload).repeat(10_000);
        let began = Instant::now();
        // Nothing of what the server answers is read, so it stops reading.
        let timeout = Some(Duration::from_secs(1));
        raw.0.set_write_timeout(timeout).unwrap();
        for _ in 0..100 {
            if raw.0.write_all(&flood).is_err() || began.elapsed() > Duration::from_secs(5) {
                break;
            }
        }
        is_well(&server);
    }
}

#[test]
fn answers_that_are_not_taken_are_given_up() {
    const INITIAL_WINDOW_SIZE: u16 = 4;
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server(folder.path());
    // Nothing may be sent to this client, and it goes on pinging and asking.
    let mut raw = Raw::open(server.port, &[(INITIAL_WINDOW_SIZE, 0)]);
    raw.send(SETTINGS, ACK, 0, &[]).unwrap();
    let began = Instant::now();
    let live = head("GET", "/health/live");
    for stream in (1..).step_by(2) {
        let asked = raw.send(HEADERS, END_HEADERS | END_STREAM, stream, &live);
        if asked.is_err() || raw.send(PING, 0, 0, &[0; 8]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_secs(1));
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "they are held still"
        );
    }
    assert!(began.elapsed() > Duration::from_secs(20), "too early");
    is_well(&server);
}
