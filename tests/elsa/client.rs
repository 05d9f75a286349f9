//! A blocking HTTP/1.1 client that keeps its connection and sends what the player of the recordings sent.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a server answered. Status 0: it did not.
#[derive(Debug, Default, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// All values of a header as one, as `fetch` gives them.
    pub(crate) fn joined(&self, name: &str) -> Option<String> {
        let all = self.headers.iter();
        let all = all.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let all: Vec<&str> = all.map(|(_, value)| value.as_str()).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// The body as JSON, else as text; null if there is none.
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = text.trim_start_matches('\u{feff}');
        if text.is_empty() {
            return Value::Null;
        }
        match serde_json::from_str(text) {
            Ok(Value::String(empty)) if empty.is_empty() => Value::Null,
            Ok(value) => value,
            Err(_) => Value::String(text.chars().take(2000).collect()),
        }
    }
}

/// One kept connection to a server of this machine.
#[derive(Debug)]
pub(crate) struct Client {
    port: u16,
    connection: Option<BufReader<TcpStream>>,
}

impl Client {
    pub(crate) fn new(port: u16) -> Self {
        Self {
            port,
            connection: None,
        }
    }

    /// Sends a request. A kept connection that has been closed meanwhile is opened again.
    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Option<&[u8]>,
    ) -> Reply {
        let request = self.request(method, path, headers, body);
        let was_kept = self.connection.is_some();
        let mut reply = self.exchange(&request, method);
        if reply.is_err() && was_kept {
            reply = self.exchange(&request, method);
        }
        reply.unwrap_or_default()
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Option<&[u8]>,
    ) -> Vec<u8> {
        let path = as_sent(path);
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: keep-alive\r\n",
            self.port
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        for (name, value) in [
            ("accept-language", "*"),
            ("sec-fetch-mode", "cors"),
            ("user-agent", "node"),
            ("accept-encoding", "gzip, deflate"),
        ] {
            if !headers.iter().any(|(known, _)| known == name) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        if body.is_some() || !matches!(method, "GET" | "HEAD") {
            head.push_str(&format!(
                "content-length: {}\r\n",
                body.map_or(0, <[u8]>::len)
            ));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body.unwrap_or_default());
        bytes
    }

    fn exchange(&mut self, request: &[u8], method: &str) -> io::Result<Reply> {
        let mut connection = match self.connection.take() {
            Some(kept) => kept,
            None => {
                let stream = TcpStream::connect(("127.0.0.1", self.port))?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                BufReader::new(stream)
            }
        };
        connection.get_mut().write_all(request)?;
        let (reply, is_kept) = read(&mut connection, method)?;
        if is_kept {
            self.connection = Some(connection);
        }
        Ok(reply)
    }
}

/// An address with what no address may have escaped, as `fetch` sends it.
fn as_sent(path: &str) -> String {
    let bytes = path.bytes();
    bytes
        .map(|b| match b {
            0..=b' ' | b'"' | b'<' | b'>' | b'`' | 0x7f.. => format!("%{b:02X}"),
            _ => char::from(b).to_string(),
        })
        .collect()
}

fn read(connection: &mut BufReader<TcpStream>, method: &str) -> io::Result<(Reply, bool)> {
    let mut line = String::new();
    if connection.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let status = line.split(' ').nth(1).and_then(|s| s.trim().parse().ok());
    let status = status.ok_or(io::ErrorKind::InvalidData)?;
    let mut reply = Reply {
        status,
        ..Reply::default()
    };
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        reply
            .headers
            .push((name.to_owned(), value.trim().to_owned()));
    }
    let mut is_kept = reply.header("connection") != Some("close");
    if method == "HEAD" || matches!(status, 204 | 304) {
        return Ok((reply, is_kept));
    }
    let length = reply.header("content-length").and_then(|l| l.parse().ok());
    if reply.header("transfer-encoding") == Some("chunked") {
        reply.bytes = chunks(connection)?;
    } else if let Some(length) = length {
        reply.bytes = vec![0; length];
        connection.read_exact(&mut reply.bytes)?;
    } else {
        connection.read_to_end(&mut reply.bytes)?;
        is_kept = false;
    }
    Ok((reply, is_kept))
}

/// Reads a body in chunks.
pub(crate) fn chunks(connection: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let mut line = String::new();
        connection.read_line(&mut line)?;
        let size = line.trim().split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
        let from = bytes.len();
        bytes.resize(from + size, 0);
        connection.read_exact(&mut bytes[from..])?;
        line.clear();
        connection.read_line(&mut line)?;
        if size == 0 {
            return Ok(bytes);
        }
    }
}
