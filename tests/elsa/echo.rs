//! A small HTTP server that cases call as `$ECHO`.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::client::chunks;

/// Headers that no two clients share, which `/echo` does not tell of.
const UNTOLD: [&str; 11] = [
    "host",
    "traceparent",
    "tracestate",
    "connection",
    "user-agent",
    "accept-encoding",
    "accept",
    "cookie",
    "baggage",
    "transfer-encoding",
    "content-length",
];

type Counts = Arc<Mutex<BTreeMap<String, u64>>>;

/// Starts the server; it lives as long as the process. Its port.
pub(crate) fn start() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let counts = Counts::default();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counts = Arc::clone(&counts);
            std::thread::spawn(move || {
                let mut connection = BufReader::new(stream);
                while let Ok(true) = serve(&mut connection, &counts) {}
            });
        }
    });
    port
}

/// Answers one request. `false`: the connection is to be closed.
fn serve(connection: &mut BufReader<TcpStream>, counts: &Counts) -> io::Result<bool> {
    let mut line = String::new();
    if connection.read_line(&mut line)? == 0 {
        return Ok(false);
    }
    let mut parts = line.split(' ');
    let method = parts.next().unwrap_or_default().to_owned();
    let url = parts.next().unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let header = |name: &str| headers.iter().find(|(n, _)| n == name).map(|(_, v)| v);
    let body = if header("transfer-encoding").is_some() {
        chunks(connection)?
    } else {
        let length = header("content-length").and_then(|l| l.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        connection.read_exact(&mut body)?;
        body
    };
    let body = String::from_utf8_lossy(&body).into_owned();
    let answer = answer(&method, &url, &headers, &body, counts);
    let Some((status, mut fields, text)) = answer else {
        return Ok(false);
    };
    let is_bare = matches!(status, 204 | 304);
    if !is_bare {
        fields.push(("content-length".into(), text.len().to_string()));
    }
    let mut head = format!("HTTP/1.1 {status} Answer\r\n");
    for (name, value) in fields {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    if method != "HEAD" && !is_bare {
        head.push_str(&text);
    }
    connection.get_mut().write_all(head.as_bytes())?;
    Ok(true)
}

type Answer = (u16, Vec<(String, String)>, String);

fn answer(
    method: &str,
    url: &str,
    headers: &[(String, String)],
    body: &str,
    counts: &Counts,
) -> Option<Answer> {
    let path = url.split('?').next().unwrap_or_default();
    let mut parts = path.split('/').skip(1).map(str::to_owned);
    let what = parts.next().unwrap_or_default();
    let first = parts.next();
    let second = parts.next();
    let told = |status: u16, kind: &str, text: &str, more: &[(&str, &str)]| {
        let mut fields = Vec::new();
        if !kind.is_empty() {
            fields.push(("content-type".to_owned(), kind.to_owned()));
        }
        let more = more.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        fields.extend(more);
        Some((status, fields, text.to_owned()))
    };
    let number = |text: &Option<String>| text.as_ref().and_then(|t| t.parse::<u64>().ok());
    match what.as_str() {
        "status" => {
            let status = u16::try_from(number(&first)?).ok()?;
            if matches!(status, 204 | 304) {
                return told(status, "", "", &[]);
            }
            told(status, "text/plain", &format!("status {status}"), &[])
        }
        "json" => told(
            200,
            second.as_deref().unwrap_or("application/json"),
            r#"{"a":1,"b":{"c":[1,2,3]},"d":null,"e":"x","f":1.5,"g":true,"big":12345678901}"#,
            &[],
        ),
        "text" => told(200, "text/plain", "hello", &[]),
        "xml" => told(200, "application/xml", "<r><a>1</a></r>", &[]),
        "html" => told(200, "text/html; charset=utf-8", "<p>hi</p>", &[]),
        "bytes" => told(200, "application/octet-stream", "bytes", &[]),
        "echo" => {
            let headers: serde_json::Map<_, _> = headers
                .iter()
                .filter(|(name, _)| !UNTOLD.contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect();
            let text = json!({ "method": method, "url": url, "headers": headers, "body": body });
            told(200, "application/json", &text.to_string(), &[])
        }
        "slow" => {
            std::thread::sleep(Duration::from_millis(number(&first)?));
            told(200, "text/plain", "slow", &[])
        }
        "chunked" => told(200, "application/json", "{\"x\":1}", &[]),
        "empty" => told(200, "application/json", "", &[]),
        "redirect" => told(302, "text/plain", "moved", &[("location", "/json")]),
        "badjson" => told(200, "application/json", "{oops", &[]),
        "file" => told(
            200,
            "application/pdf",
            "%PDF-small",
            &[
                ("content-disposition", "attachment; filename=\"report.pdf\""),
                ("etag", "\"abc\""),
            ],
        ),
        "cookies" => told(
            200,
            "text/plain",
            "ok",
            &[("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-one", "1")],
        ),
        "flaky" => {
            let mut counts = counts.lock().expect("the counts");
            let count = counts.entry(first?).or_default();
            *count += 1;
            if *count <= number(&second)? {
                told(503, "text/plain", "busy", &[])
            } else {
                told(200, "application/json", "{\"ok\":true}", &[])
            }
        }
        "count" => {
            let counts = counts.lock().expect("the counts");
            let count = counts.get(&first?).copied().unwrap_or(0);
            told(200, "application/json", &count.to_string(), &[])
        }
        "drop" => None,
        _ => told(404, "text/plain", "no such path", &[]),
    }
}
