//! Lambda as a function sees it: a process of the real binary, and a Runtime API that hands it invocations and takes
//! its answers. The process can be frozen and thawed between them, and ended, as Lambda does.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::NamedTempFile;

/// How long anything may take here, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How much time an invocation has that does not say, in ms.
const USUAL_MS: i64 = 60_000;

/// A function's process. Dropping it kills it.
pub struct Lambda {
    child: Mutex<Child>,
    state: Arc<State>,
    log: NamedTempFile,
    began: Instant,
}

#[derive(Default)]
struct State {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    waiting: VecDeque<(u64, String, i64)>,
    answers: BTreeMap<u64, Answer>,
    invocations: u64,
    /// When the function first asked for an invocation.
    first_next: Option<Instant>,
    init_error: Option<Value>,
}

/// The binary of a function, beside another one of them; or, where `DORMOUSE_FUNCTIONS` names a folder, as
/// `cargo lambda build` leaves it there: `dormouse-NAME/bootstrap`.
#[must_use]
pub fn binary(name: &str, beside: &str) -> PathBuf {
    let name = format!("dormouse-{name}");
    match std::env::var_os("DORMOUSE_FUNCTIONS") {
        Some(folder) => Path::new(&folder).join(name).join("bootstrap"),
        None => Path::new(beside).with_file_name(name),
    }
}

/// What became of an invocation: the answer, or the error.
pub type Answer = Result<Value, Value>;

impl Lambda {
    /// Starts a binary in an environment of these variables and those that Lambda sets.
    #[must_use]
    pub fn start(binary: &Path, variables: &[(&str, &str)]) -> Self {
        assert!(
            binary.exists(),
            "{} is not built: test its package too, like `cargo test -p dormouse-resume`",
            binary.display()
        );
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let state = Arc::new(State::default());
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let served = Arc::clone(&served);
                // A connection that breaks is the function's affair.
                std::thread::spawn(move || serve(&stream, &served));
            }
        });
        let log = NamedTempFile::new().expect("a temporary file");
        let began = Instant::now();
        let child = Command::new(binary)
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", address)
            .env("AWS_LAMBDA_FUNCTION_NAME", "function")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "dormouse")
            .env("AWS_SECRET_ACCESS_KEY", "dormouse")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(log.reopen().expect("a file handle"))
            .stderr(log.reopen().expect("a file handle"))
            .spawn()
            .expect("the binary can be started");
        Self {
            child: Mutex::new(child),
            state,
            log,
            began,
        }
    }

    /// Invokes it with an event and waits for what becomes of it.
    pub fn invoke(&self, event: &Value) -> Answer {
        self.invoke_within(event, USUAL_MS)
    }

    /// The same where Lambda will end the invocation in so many ms; it is not ended, so that its answer is seen.
    pub fn invoke_within(&self, event: &Value, left_ms: i64) -> Answer {
        let id = self.begin(&event.to_string(), left_ms);
        self.answer(id)
    }

    /// Begins an invocation with any text for an event.
    #[must_use]
    pub fn begin(&self, event: &str, left_ms: i64) -> u64 {
        let now = UNIX_EPOCH.elapsed().expect("it is after 1970").as_millis();
        let deadline = i64::try_from(now).expect("a time") + left_ms;
        self.with(|inner| {
            inner.invocations += 1;
            let id = inner.invocations;
            inner.waiting.push_back((id, event.to_owned(), deadline));
            id
        })
    }

    /// Waits for what becomes of an invocation.
    pub fn answer(&self, id: u64) -> Answer {
        self.wait("an answer", |inner| inner.answers.remove(&id))
    }

    /// Waits until it asks for its first invocation; answers how long that took from the start of the process.
    #[must_use]
    pub fn ready_after(&self) -> Duration {
        self.wait("the first request for an invocation", |inner| {
            inner.first_next
        })
        .duration_since(self.began)
    }

    /// Waits until it says why it cannot begin.
    #[must_use]
    pub fn init_error(&self) -> Value {
        self.wait("an error at the start", |inner| inner.init_error.clone())
    }

    /// Stops it where it is, as Lambda does between invocations.
    pub fn freeze(&self) {
        self.signal("STOP");
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        self.signal("CONT");
    }

    /// Ends it as Lambda does that gives notice, and waits for its end.
    #[must_use]
    pub fn terminate(&self) -> ExitStatus {
        self.signal("TERM");
        self.ended()
    }

    /// Waits for its end.
    #[must_use]
    pub fn ended(&self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            let status = lock(&self.child).try_wait().expect("a child of ours");
            if let Some(status) = status {
                return status;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "it does not end:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The process's id.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        lock(&self.child).id()
    }

    /// What it wrote.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log.path()).unwrap_or_default()
    }

    fn signal(&self, name: &str) {
        let id = lock(&self.child).id().to_string();
        let done = Command::new("kill")
            .args([&format!("-{name}"), &id])
            .status();
        assert!(done.expect("kill is there").success(), "kill -{name} {id}");
    }

    fn with<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let changed = change(&mut lock(&self.state.inner));
        self.state.changed.notify_all();
        changed
    }

    fn wait<T>(&self, what: &str, mut look: impl FnMut(&mut Inner) -> Option<T>) -> T {
        let begin = Instant::now();
        let mut inner = lock(&self.state.inner);
        loop {
            if let Some(found) = look(&mut inner) {
                return found;
            }
            let waited = self
                .state
                .changed
                .wait_timeout(inner, Duration::from_millis(200));
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
            let status = lock(&self.child).try_wait().expect("a child of ours");
            // What it said last may be on its way still.
            if let Some(found) = look(&mut inner) {
                return found;
            }
            assert!(
                begin.elapsed() < PATIENCE && status.is_none(),
                "there is not {what} ({status:?}); it wrote:\n{}",
                self.log()
            );
        }
    }
}

impl Drop for Lambda {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        // It may have ended by itself; either way it is gone afterwards.
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves one connection until it breaks.
fn serve(stream: &TcpStream, state: &State) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream.try_clone().ok()?;
    loop {
        let (path, body) = read_request(&mut reader)?;
        let place = path.strip_prefix("/2018-06-01/runtime/")?.to_owned();
        let answer = match place.as_str() {
            "invocation/next" => next(state),
            "init/error" => {
                lock(&state.inner).init_error = Some(parsed(&body));
                accepted()
            }
            place => {
                let (id, kind) = place.strip_prefix("invocation/")?.split_once('/')?;
                let value = parsed(&body);
                let answer = if kind == "response" {
                    Ok(value)
                } else {
                    Err(value)
                };
                lock(&state.inner).answers.insert(id.parse().ok()?, answer);
                accepted()
            }
        };
        state.changed.notify_all();
        writer.write_all(answer.as_bytes()).ok()?;
    }
}

/// Waits for the next invocation.
fn next(state: &State) -> String {
    let mut inner = lock(&state.inner);
    inner.first_next.get_or_insert_with(Instant::now);
    state.changed.notify_all();
    loop {
        if let Some((id, event, deadline)) = inner.waiting.pop_front() {
            return format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
                 lambda-runtime-aws-request-id: {id}\r\nlambda-runtime-deadline-ms: {deadline}\r\n\
                 lambda-runtime-invoked-function-arn: arn:aws:lambda:us-east-1:000000000000:function:function\r\n\
                 lambda-runtime-trace-id: Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0\r\n\r\n{event}",
                event.len()
            );
        }
        inner = state
            .changed
            .wait(inner)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

fn accepted() -> String {
    let body = json!({ "status": "OK" }).to_string();
    format!(
        "HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn parsed(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or(Value::Null)
}

/// The path and the body of a request. `None`: the connection is closed.
fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut is_chunked) = (0_usize, false);
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        is_chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    while is_chunked {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let size = usize::from_str_radix(line.trim(), 16).ok()?;
        let start = body.len();
        body.resize(start + size, 0);
        reader.read_exact(&mut body[start..]).ok()?;
        line.clear();
        reader.read_line(&mut line).ok()?;
        is_chunked = size > 0;
    }
    Some((path, body))
}
