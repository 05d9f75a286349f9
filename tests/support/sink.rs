//! Somebody outside whom workflows call: it answers 200, and remembers who called under which key.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// How it treats those who call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manners {
    /// It answers everybody.
    Answers,
    /// It never answers the first request for a path, and every later one.
    IgnoresTheFirst,
}

/// A running HTTP server on a free port. It ends with the process of the test.
pub struct Sink {
    port: u16,
    calls: Arc<Mutex<BTreeMap<String, Called>>>,
}

#[derive(Default)]
struct Called {
    count: usize,
    keys: BTreeSet<String>,
    bodies: Vec<Vec<u8>>,
}

/// The calls of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// How many.
    pub count: usize,
    /// Under how many different idempotency keys.
    pub keys: usize,
}

impl Sink {
    /// Starts one.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(Manners::Answers)
    }

    /// Starts one of these manners.
    #[must_use]
    pub fn start_with(manners: Manners) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("a port").port();
        let calls: Arc<Mutex<BTreeMap<String, Called>>> = Arc::default();
        let of_thread = Arc::clone(&calls);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let calls = Arc::clone(&of_thread);
                // A caller that was killed in the middle of its request is no failure.
                std::thread::spawn(move || answer_all(stream, &calls, manners).ok());
            }
        });
        Self { port, calls }
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What `/name` was told, in order.
    #[must_use]
    pub fn bodies(&self, name: &str) -> Vec<Vec<u8>> {
        let calls = self.calls.lock().unwrap();
        let called = calls.get(&format!("/{name}"));
        called.map_or_else(Vec::new, |called| called.bodies.clone())
    }

    /// Who called `/name`.
    #[must_use]
    pub fn calls(&self, name: &str) -> Calls {
        let calls = self.calls.lock().unwrap();
        let called = calls.get(&format!("/{name}"));
        Calls {
            count: called.map_or(0, |called| called.count),
            keys: called.map_or(0, |called| called.keys.len()),
        }
    }
}

/// Answers the requests of one connection.
fn answer_all(
    stream: TcpStream,
    calls: &Mutex<BTreeMap<String, Called>>,
    manners: Manners,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let (mut key, mut length) = (String::new(), 0);
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let header = header.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("idempotency-key:") {
                value.trim().clone_into(&mut key);
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = Vec::new();
        reader.by_ref().take(length).read_to_end(&mut body)?;
        let is_first = {
            let mut calls = calls.lock().unwrap();
            let called = calls.entry(path).or_default();
            called.count += 1;
            called.keys.insert(key);
            called.bodies.push(body);
            called.count == 1
        };
        if is_first && manners == Manners::IgnoresTheFirst {
            // Until the caller goes away.
            reader.read_to_end(&mut Vec::new())?;
            return Ok(());
        }
        reader
            .get_mut()
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
    }
}
