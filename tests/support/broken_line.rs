//! A line to a server that breaks on demand: requests arrive and their answers are lost, or never arrive, or
//! somebody else answers. It speaks just enough HTTP to tell one request from the next.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What happens to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Nothing; it is answered.
    None,
    /// It arrives and is carried out, and then the line breaks.
    AnswerLost,
    /// The line breaks before it arrives.
    RequestLost,
    /// It does not arrive, and the line stays.
    Silence,
    /// It does not arrive; this status and AWS error code come back instead.
    Error(u16, &'static str),
    /// It does not arrive; this status and body come back instead.
    Body(u16, String),
}

/// A running line. It breaks for good when dropped.
pub struct BrokenLine {
    endpoint: String,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

struct State {
    server: SocketAddr,
    faults: Mutex<VecDeque<Fault>>,
    requests: Mutex<usize>,
}

impl BrokenLine {
    /// A line to the server at `endpoint` (like `http://127.0.0.1:41234`).
    ///
    /// # Errors
    ///
    /// No such address, no port.
    pub async fn to(endpoint: &str) -> anyhow::Result<Self> {
        let server = endpoint.trim_start_matches("http://").parse()?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let state = Arc::new(State {
            server,
            faults: Mutex::default(),
            requests: Mutex::default(),
        });
        let accepted = Arc::clone(&state);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, Arc::clone(&accepted)));
            }
        });
        Ok(Self {
            endpoint,
            state,
            accepting,
        })
    }

    /// Where the line begins.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// What happens to the next requests, in order; those after them are answered.
    pub fn break_next(&self, faults: impl IntoIterator<Item = Fault>) {
        lock(&self.state.faults).extend(faults);
    }

    /// How many requests came since the last time this was asked.
    #[must_use]
    pub fn requests(&self) -> usize {
        std::mem::take(&mut *lock(&self.state.requests))
    }
}

impl Drop for BrokenLine {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves one connection until either side closes it or a fault breaks it.
async fn serve(client: TcpStream, state: Arc<State>) -> io::Result<()> {
    let (read, mut write) = client.into_split();
    let mut client = BufReader::new(read);
    let (read, mut server) = TcpStream::connect(state.server).await?.into_split();
    let mut answers = BufReader::new(read);
    while let Some(request) = message(&mut client).await? {
        *lock(&state.requests) += 1;
        let fault = lock(&state.faults).pop_front().unwrap_or(Fault::None);
        match fault {
            Fault::None => {
                server.write_all(&request).await?;
                let answer = message(&mut answers).await?.unwrap_or_default();
                write.write_all(&answer).await?;
            }
            Fault::AnswerLost => {
                server.write_all(&request).await?;
                message(&mut answers).await?;
                return Ok(());
            }
            Fault::RequestLost => return Ok(()),
            Fault::Silence => {
                // Until the client gives up.
                message(&mut client).await?;
                return Ok(());
            }
            Fault::Error(status, code) => {
                let body = format!(r#"{{"__type":"x#{code}","message":"made up"}}"#);
                answer(&mut write, status, &body).await?;
            }
            Fault::Body(status, body) => answer(&mut write, status, &body).await?,
        }
    }
    Ok(())
}

/// One HTTP message with a content length, whole; `None` at the end of the connection.
async fn message(from: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<Vec<u8>>> {
    let (mut message, mut length) = (Vec::new(), 0);
    loop {
        let start = message.len();
        if from.read_until(b'\n', &mut message).await? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(message.get(start..).unwrap_or_default()).to_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).await?;
    message.extend(body);
    Ok(Some(message))
}

async fn answer(to: &mut OwnedWriteHalf, status: u16, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} Made Up\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    to.write_all(head.as_bytes()).await?;
    to.write_all(body.as_bytes()).await
}
