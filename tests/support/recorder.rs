//! A line between the functions and AWS that notes who calls what, and can fall silent for one service.
//!
//! It passes everything on unchanged. A caller is known by the application id that the template gives each function.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// Who called, and the action that a policy must allow for it, like `dynamodb:PutItem`.
pub type Call = (String, String);

/// The line.
pub struct Recorder {
    endpoint: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    upstream: String,
    silent: Option<String>,
    calls: BTreeSet<Call>,
}

/// One request as far as it matters here.
#[derive(Default)]
struct Request {
    /// Everything, as it came.
    bytes: Vec<u8>,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Recorder {
    /// A line on a free port; where it leads is told later.
    ///
    /// # Errors
    ///
    /// No port.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                // A connection that breaks is the caller's affair.
                std::thread::spawn(move || relay(stream, &state));
            }
        });
        Ok(Self { endpoint, state })
    }

    /// Where it is.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Leads to an endpoint from now on.
    pub fn lead_to(&self, endpoint: &str) {
        let address = endpoint.trim_start_matches("http://");
        address.clone_into(&mut lock(&self.state).upstream);
    }

    /// Answers requests to a service with an error from now on; `None`: passes all on again.
    pub fn silence(&self, service: Option<&str>) {
        lock(&self.state).silent = service.map(str::to_owned);
    }

    /// What was called so far.
    #[must_use]
    pub fn calls(&self) -> BTreeSet<Call> {
        lock(&self.state).calls.clone()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes one connection's requests on, one after the other, and all that is answered back.
fn relay(client: TcpStream, state: &Mutex<State>) -> io::Result<()> {
    let upstream = lock(state).upstream.clone();
    let mut server = TcpStream::connect(upstream)?;
    let (mut answers, mut back) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        let copied = io::copy(&mut answers, &mut back);
        // The client must not wait for more.
        let _ = back.shutdown(Shutdown::Both);
        copied
    });
    let mut answer = client.try_clone()?;
    let mut reader = BufReader::new(client);
    while let Some(request) = read(&mut reader)? {
        let silent = lock(state).silent.clone();
        if silent.is_some() && silent == request.service() {
            answer.write_all(
                b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\n\
                content-type: application/x-amz-json-1.0\r\n\r\n{}",
            )?;
            continue;
        }
        let caller = request.caller();
        let mut actions: Vec<Call> = Vec::new();
        if let (Some(caller), Some(service)) = (caller, request.service()) {
            let named = request.actions(&service).into_iter();
            actions.extend(named.map(|action| (caller.clone(), format!("{service}:{action}"))));
        }
        lock(state).calls.extend(actions);
        server.write_all(&request.bytes)?;
    }
    server.shutdown(Shutdown::Write)
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// `app/dormouse-api` in the user agent.
    fn caller(&self) -> Option<String> {
        let words = self.header("user-agent")?.split(' ');
        let mut named = words.filter_map(|word| word.strip_prefix("app/"));
        named.next().map(str::to_owned)
    }

    /// The service that the signature is for: `Credential=key/date/region/service/aws4_request`.
    fn service(&self) -> Option<String> {
        let signature = self.header("authorization")?;
        let scope = signature.split("Credential=").nth(1)?.split(',').next()?;
        scope.split('/').nth(3).map(str::to_owned)
    }

    /// The actions that a policy must allow.
    fn actions(&self, service: &str) -> Vec<String> {
        let target = self.header("x-amz-target");
        if let Some(action) = target.and_then(|target| target.split('.').nth(1)) {
            return match action {
                "TransactWriteItems" => self.transaction(),
                "SendMessageBatch" => vec!["SendMessage".to_owned()],
                action => vec![action.to_owned()],
            };
        }
        let body = String::from_utf8_lossy(&self.body);
        let mut fields = body.split('&');
        if let Some(action) = fields.find_map(|field| field.strip_prefix("Action=")) {
            return vec![action.to_owned()];
        }
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let is_object = path.trim_matches('/').contains('/');
        let action = match (service, self.method.as_str()) {
            ("scheduler", "POST") => "CreateSchedule",
            ("scheduler", "GET") => "GetSchedule",
            ("scheduler", "PUT") => "UpdateSchedule",
            ("scheduler", "DELETE") => "DeleteSchedule",
            ("s3", "GET" | "HEAD") if is_object => "GetObject",
            ("s3", "GET" | "HEAD") => "ListBucket",
            ("s3", "PUT") if is_object => "PutObject",
            ("s3", "DELETE") if is_object => "DeleteObject",
            _ => return vec![format!("{} {path}?{query}", self.method)],
        };
        vec![action.to_owned()]
    }

    /// A transaction needs what each of its writes needs.
    fn transaction(&self) -> Vec<String> {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let items = body["TransactItems"].as_array().into_iter().flatten();
        let kinds = items.filter_map(|item| item.as_object()?.keys().next());
        kinds
            .map(|kind| match kind.as_str() {
                "ConditionCheck" => "ConditionCheckItem".to_owned(),
                kind => format!("{kind}Item"),
            })
            .collect()
    }
}

/// Reads one request; `None` at the connection's end.
fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut request = Request::default();
    let mut line = String::new();
    let mut next_line = |request: &mut Request| -> io::Result<String> {
        line.clear();
        reader.read_line(&mut line)?;
        request.bytes.extend_from_slice(line.as_bytes());
        Ok(line.trim_end().to_owned())
    };
    let first = next_line(&mut request)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    (request.method, request.path) = (method, path);
    loop {
        let header = next_line(&mut request)?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        let value = value.trim().to_owned();
        request.headers.push((name.to_ascii_lowercase(), value));
    }
    let length = request
        .header("content-length")
        .and_then(|n| n.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    request.bytes.extend_from_slice(&body);
    request.body = body;
    if request.header("transfer-encoding").is_some() {
        read_chunks(reader, &mut request)?;
    }
    Ok(Some(request))
}

fn read_chunks(reader: &mut BufReader<TcpStream>, request: &mut Request) -> io::Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        request.bytes.extend_from_slice(line.as_bytes());
        let size = line.trim().split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
        // The chunk and the line's end after it.
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk)?;
        request.bytes.extend_from_slice(&chunk);
        if size == 0 {
            return Ok(());
        }
    }
}
