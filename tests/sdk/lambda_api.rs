//! A server with the action `Invoke` of Lambda's API, which checks the signature of each request by the rules of
//! "Signature Version 4" and behaves as the function's name says.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ring::{digest, hmac};
use serde_json::{Value, json};

use super::suite::repository;

pub(crate) const KEY_ID: &str = "AKIDEXAMPLE";
pub(crate) const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// The running server.
#[derive(Clone)]
pub(crate) struct LambdaApi {
    pub(crate) port: u16,
    /// The events by function, as it was named in the path.
    events: Arc<Mutex<Vec<(String, Value)>>>,
}

struct Request {
    path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl LambdaApi {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api = Self {
            port: listener.local_addr().unwrap().port(),
            events: Arc::default(),
        };
        let of_thread = api.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let api = of_thread.clone();
                std::thread::spawn(move || api.serve(&stream));
            }
        });
        api
    }

    /// The events that a function was invoked with.
    pub(crate) fn events(&self, function: &str) -> Vec<Value> {
        let events = self.events.lock().unwrap();
        let of = events.iter().filter(|(name, _)| name == function);
        of.map(|(_, event)| event.clone()).collect()
    }

    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        while let Some(request) = read(&mut reader) {
            let (status, headers, body) = self.answer(&request);
            let head = format!(
                "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n",
                body.len()
            );
            let mut stream = stream;
            if stream
                .write_all(&[head.as_bytes(), &body].concat())
                .is_err()
            {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> (u16, &'static str, Vec<u8>) {
        let none = |status: u16, body: Value| (status, "", body.to_string().into_bytes());
        if let Err(why) = verify(request) {
            return none(403, json!({ "message": why }));
        }
        let function = request.path.strip_prefix("/2015-03-31/functions/");
        let function = function.and_then(|rest| rest.strip_suffix("/invocations"));
        let kind = request.headers.get("x-amz-invocation-type");
        let (Some(function), Some("RequestResponse")) = (function, kind.map(String::as_str)) else {
            return none(400, json!({ "message": "no Invoke" }));
        };
        let event: Value = serde_json::from_slice(&request.body).unwrap();
        let mut events = self.events.lock().unwrap();
        events.push((function.to_owned(), event.clone()));
        let count = events.iter().filter(|(name, _)| name == function).count();
        drop(events);
        const THROWN: &str = "x-amz-function-error: Unhandled\r\n";
        match function {
            "throttled" if count == 1 => none(429, json!({ "Message": "Rate exceeded" })),
            "thrown" => {
                let body = json!({ "errorType": "ValueError", "errorMessage": "no such card" });
                (200, THROWN, body.to_string().into_bytes())
            }
            "timed-out" => {
                let body = json!({ "errorMessage": "x Task timed out after 3.00 seconds" });
                (200, THROWN, body.to_string().into_bytes())
            }
            "gone" => none(404, json!({ "Message": "Function not found" })),
            "nonsense" => (200, "", b"<html>".to_vec()),
            "huge" => (200, "", vec![b' '; 7 << 20]),
            "silent" => {
                std::thread::sleep(Duration::from_secs(30));
                none(200, json!({}))
            }
            "later" => none(200, json!("later")),
            _ => (200, "", run(&request.body)),
        }
    }
}

/// Runs the function in Python, with the SDK's adapter.
fn run(event: &[u8]) -> Vec<u8> {
    let program = "
import json, sys
from dormouse import Outcome, Worker, lambda_handler
worker = Worker()
@worker.activity('Acme.Run')
def run(input, ctx):
    if input['n'] < 0:
        return Outcome('Negative')
    return {'result': {'n': input['n'], 'attempt': ctx.attempt, 'key': ctx.idempotency_key}}
json.dump(lambda_handler(worker)(json.load(sys.stdin), None), sys.stdout)
";
    let mut child = Command::new("python3")
        .args(["-c", program])
        .env("PYTHONPATH", repository().join("shared/sdk/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(event).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        path,
        headers,
        body,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Signs the request again, and compares.
fn verify(request: &Request) -> Result<(), String> {
    let header = |name: &str| request.headers.get(name).map(String::as_str);
    let given = header("authorization").ok_or("no authorization")?;
    let part = |name: &str| {
        let (_, rest) = given.split_once(name)?;
        rest.split(',').next()
    };
    let credential = part("Credential=").ok_or("no credential")?;
    let (key_id, scope) = credential.split_once('/').ok_or("no scope")?;
    let signed = part("SignedHeaders=").ok_or("no headers")?;
    let date = header("x-amz-date").ok_or("no date")?;
    if key_id != KEY_ID || !["host", "x-amz-date"].iter().all(|h| signed.contains(h)) {
        return Err("a wrong key, or too little is signed".into());
    }
    let mut canonical = format!("POST\n{}\n\n", request.path.replace('%', "%25"));
    for name in signed.split(';') {
        let value = header(name).ok_or("a signed header is missing")?;
        canonical.push_str(&format!("{name}:{value}\n"));
    }
    canonical.push_str(&format!("\n{signed}\n{}", sha256(&request.body)));
    let text = format!(
        "AWS4-HMAC-SHA256\n{date}\n{scope}\n{}",
        sha256(canonical.as_bytes())
    );
    let mac = |key: &[u8], text: &str| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
    };
    let first = format!("AWS4{SECRET_KEY}").into_bytes();
    let key = scope.split('/').fold(first, |key, part| mac(&key, part));
    let expected = hex(&mac(&key, &text));
    if part("Signature=") == Some(&expected) && scope.ends_with("/us-east-1/lambda/aws4_request") {
        Ok(())
    } else {
        Err(format!("the signature is wrong: {given}\n{canonical}"))
    }
}
