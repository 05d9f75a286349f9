//! A client for load and kill tests: one kept-alive connection, blocking, nothing but HTTP/1.1 with a length.
//!
//! A load generator must cost less than what it measures, so this is no general client.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// One connection to one node; it reconnects by itself after an error.
#[derive(Debug)]
pub struct Client {
    port: u16,
    patience: Duration,
    connection: Option<BufReader<TcpStream>>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// The body as JSON; null if it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Whether the status is one of success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Client {
    /// A client of the node at a port of this machine. Connects with the first request.
    #[must_use]
    pub fn new(port: u16) -> Self {
        Self::patient(port, Duration::from_secs(60))
    }

    /// A client that waits so long for each part of an answer.
    #[must_use]
    pub fn patient(port: u16, patience: Duration) -> Self {
        Self {
            port,
            patience,
            connection: None,
        }
    }

    /// Sends a GET.
    pub fn get(&mut self, path: &str) -> io::Result<Response> {
        self.send("GET", path, &[], b"")
    }

    /// Sends a POST of JSON.
    pub fn post(&mut self, path: &str, body: &Value) -> io::Result<Response> {
        self.send(
            "POST",
            path,
            &[("content-type", "application/json")],
            body.to_string().as_bytes(),
        )
    }

    /// Sends a POST of JSON under an idempotency key.
    pub fn post_once(&mut self, path: &str, key: &str, body: &Value) -> io::Result<Response> {
        let headers = [
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        self.send("POST", path, &headers, body.to_string().as_bytes())
    }

    /// Sends a request and reads the whole response. An error closes the connection.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Response> {
        let result = self.exchange(method, path, headers, body);
        if result.is_err() {
            self.connection = None;
        }
        result
    }

    fn exchange(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Response> {
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n",
            self.port
        );
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        let connection = self.connect()?;
        connection.get_mut().write_all(&bytes)?;
        let (response, must_close) = read_response(connection)?;
        if must_close {
            self.connection = None;
        }
        Ok(response)
    }

    fn connect(&mut self) -> io::Result<&mut BufReader<TcpStream>> {
        if self.connection.is_none() {
            let stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(self.patience))?;
            self.connection = Some(BufReader::new(stream));
        }
        self.connection
            .as_mut()
            .ok_or_else(|| io::Error::other("no connection"))
    }
}

/// Reads status, headers and body. The flag says that the server will close the connection.
fn read_response(connection: &mut BufReader<TcpStream>) -> io::Result<(Response, bool)> {
    let broken = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut line = String::new();
    if connection.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|s| s.parse().ok())
        .ok_or_else(|| broken("no status"))?;
    let (mut length, mut is_chunked, mut must_close) = (0_usize, false, false);
    loop {
        line.clear();
        if connection.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(|_| broken("bad length"))?;
        }
        is_chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
        must_close |= header == "connection: close";
    }
    let mut body = Vec::new();
    if is_chunked {
        loop {
            line.clear();
            connection.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).map_err(|_| broken("bad chunk"))?;
            let start = body.len();
            body.resize(start + size, 0);
            connection.read_exact(&mut body[start..])?;
            line.clear();
            connection.read_line(&mut line)?;
            if size == 0 {
                break;
            }
        }
    } else {
        body.resize(length, 0);
        connection.read_exact(&mut body)?;
    }
    Ok((Response { status, body }, must_close))
}
