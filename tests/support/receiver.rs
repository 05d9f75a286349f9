//! Somebody outside who receives webhooks: checks who signed them, refuses the first ones, and remembers what came.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use dormouse_identity::webhook::{Signed, verify};
use serde_json::Value;

/// What messages are signed with.
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A message as it came in.
#[derive(Debug, Clone)]
pub struct Received {
    headers: BTreeMap<String, String>,
    /// Its bytes.
    pub body: Vec<u8>,
}

impl Received {
    /// Its id.
    ///
    /// Panics if it is not signed with [`SECRET`] for these bytes at its own time.
    #[must_use]
    pub fn signed_id(&self) -> &str {
        let header = |name: &str| self.headers.get(name).expect(name).as_str();
        let signed = Signed {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signatures: header("webhook-signature"),
        };
        let now_s = signed.timestamp.parse().expect("a time");
        let verified = verify(&[SECRET.to_owned()], signed, now_s, &self.body);
        assert_eq!(verified, Ok(()), "{self:?}");
        signed.id
    }

    /// What it says.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

/// A running receiver on a free port. It ends with the process of the test.
pub struct Receiver {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    /// One that answers so many messages with 500, and every later one with 204.
    #[must_use]
    pub fn refusing(first: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("a port").port();
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let of_thread = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let received = Arc::clone(&of_thread);
                // A sender that goes away in the middle of its message is no failure.
                std::thread::spawn(move || take(stream, &received, first).ok());
            }
        });
        Self { port, received }
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/tasks", self.port)
    }

    /// What came, in order.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn take(stream: TcpStream, received: &Mutex<Vec<Received>>, first: usize) -> std::io::Result<()> {
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
        let is_refused = {
            let mut received = received.lock().unwrap();
            received.push(Received { headers, body });
            received.len() <= first
        };
        let status = if is_refused { "500 No" } else { "204 Taken" };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        reader.get_mut().write_all(answer.as_bytes())?;
        line.clear();
    }
    Ok(())
}
