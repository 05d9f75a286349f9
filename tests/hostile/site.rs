//! The server that is attacked, and what clients of it send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use dormouse_tests::server::Server;
use serde_json::{Value, json};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_dormouse");

/// Resident memory that the server stays below, whatever is sent.
pub(crate) const MEMORY_BYTES_MAX: u64 = 256 << 20;

/// Sends a request and reads all of the answer.
pub(crate) fn exchange(port: u16, request: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_write_timeout(Some(Duration::from_secs(30)))?;
    // The server may answer and close before all is sent.
    let _sent = stream.write_all(request);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let status = std::str::from_utf8(answer.get(9..12).unwrap_or_default()).ok();
    match status.and_then(|status| status.parse().ok()) {
        Some(status) => Ok((status, answer)),
        None => Err(read
            .err()
            .unwrap_or_else(|| std::io::ErrorKind::UnexpectedEof.into())),
    }
}

pub(crate) fn request(method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let kind = if body.is_empty() || headers.contains("Content-Type") {
        ""
    } else {
        "Content-Type: application/json\r\n"
    };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{kind}{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A server that asks who its callers are, and the header with the key of its command line.
pub(crate) fn server(folder: &Path) -> (Server, String) {
    server_with(folder, &[])
}

/// The same with more options.
pub(crate) fn server_with(folder: &Path, options: &[&str]) -> (Server, String) {
    let data = folder.join("data");
    let mut args = vec!["--data", data.to_str().unwrap(), "--quiet"];
    args.extend(options);
    let variables = [("DORMOUSE_AUTHENTICATION", "users,apiKeys")];
    let server = Server::start_with(Path::new(BINARY), &args, &variables, &folder.join("log"), 1);
    let header = key_header(&data);
    (server, header)
}

/// The header with the key of the command line.
pub(crate) fn key_header(data: &Path) -> String {
    let key = std::fs::read_dir(data).unwrap().filter_map(|entry| {
        let text = std::fs::read_to_string(entry.ok()?.path()).ok()?;
        text.starts_with("dm_").then(|| text.trim().to_owned())
    });
    let key = key.into_iter().next().unwrap();
    format!("Authorization: ApiKey {key}\r\n")
}

/// Open files of the process.
pub(crate) fn files(server: &Server) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.id())).map_or(0, Iterator::count)
}

/// Publishes a definition.
pub(crate) fn publish(port: u16, key: &str, model: &Value) {
    let save = json!({ "model": model, "publish": true });
    post(port, key, "/workflow-definitions", &save);
}

/// Posts JSON to the API, which takes it.
#[track_caller]
pub(crate) fn post(port: u16, key: &str, path: &str, body: &Value) -> Value {
    let path = format!("/elsa/api{path}");
    json_of(
        port,
        &request("POST", &path, key, body.to_string().as_bytes()),
    )
}

/// Reads JSON from the API.
#[track_caller]
pub(crate) fn get(port: u16, key: &str, path: &str) -> Value {
    json_of(port, &request("GET", &format!("/elsa/api{path}"), key, b""))
}

#[track_caller]
fn json_of(port: u16, request: &[u8]) -> Value {
    let (status, answer) = exchange(port, request).unwrap();
    let text = String::from_utf8_lossy(&answer);
    assert!((200..300).contains(&status), "{text}");
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).unwrap_or(Value::Null)
}
