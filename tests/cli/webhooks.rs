//! Task requests that leave as webhooks: signed, and again under the same id until they are taken.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dormouse_identity::webhook::{Signed, verify};
use serde_json::Value;

use crate::process::{Server, folder, run};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A message as it came in.
#[derive(Debug, Clone)]
struct Message {
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// Takes messages on a free port, but for the first one, which it refuses.
fn receiver() -> (u16, Arc<Mutex<Vec<Message>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let messages: Arc<Mutex<Vec<Message>>> = Arc::default();
    let of_thread = Arc::clone(&messages);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let messages = Arc::clone(&of_thread);
            std::thread::spawn(move || take(stream, &messages).ok());
        }
    });
    (port, messages)
}

fn take(stream: TcpStream, messages: &Mutex<Vec<Message>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let mut headers = BTreeMap::new();
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length").and_then(|n| n.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let is_first = {
            let mut messages = messages.lock().unwrap();
            messages.push(Message { headers, body });
            messages.len() == 1
        };
        let status = if is_first { "500 No" } else { "204 Taken" };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        reader.get_mut().write_all(answer.as_bytes())?;
        line.clear();
    }
    Ok(())
}

#[test]
fn task_requests_are_signed_and_come_again_under_their_id_until_they_are_taken() {
    let (port, messages) = receiver();
    let data = folder();
    let url = format!("http://127.0.0.1:{port}/tasks");
    let options = ["--webhook-url", &url, "--webhook-secret", SECRET];
    let server = Server::start_with(
        data.path(),
        &[&options[..], &["--allow-private-egress"]].concat(),
    );
    server.publish("order");
    server.json(&["start", "order", "-i", "OrderId=o-1", "-i", "Amount=12"]);
    let until = Instant::now() + Duration::from_secs(30);
    // Two tasks, and the one that was refused again.
    while messages.lock().unwrap().len() < 3 {
        assert!(Instant::now() < until, "{:?}", messages.lock().unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
    let came = messages.lock().unwrap().clone();
    let mut bodies: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
    for message in came {
        let header = |name: &str| message.headers.get(name).unwrap().as_str();
        let signed = Signed {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signatures: header("webhook-signature"),
        };
        let now_s = signed.timestamp.parse().unwrap();
        let verified = verify(&[SECRET.to_owned()], signed, now_s, &message.body);
        assert_eq!(verified, Ok(()), "{message:?}");
        let all = bodies.entry(signed.id.to_owned()).or_default();
        all.insert(message.body.clone());
    }
    assert_eq!(bodies.len(), 2, "{bodies:?}");
    let mut names = BTreeSet::new();
    for all in bodies.values() {
        assert_eq!(all.len(), 1, "a repetition is another message: {all:?}");
        let body: Value = serde_json::from_slice(all.first().unwrap()).unwrap();
        assert_eq!(body["type"], "RunTask");
        names.insert(body["data"]["taskName"].as_str().unwrap().to_owned());
    }
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_webhook_without_a_secret_to_sign_it_with_is_refused() {
    let data = folder();
    let place = data.path().to_str().unwrap();
    let url = ["--webhook-url", "https://hooks.example/x"];
    let serve = ["serve", "--port", "0", "--data", place];
    for secret in ["", "whsec_", "whsec_***"] {
        run(serve
            .iter()
            .chain(&url)
            .chain(&["--webhook-secret", secret]))
        .ended(2)
        .complains("no secret to sign them with");
    }
}
