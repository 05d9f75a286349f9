//! AWS in a process beside the test: ministack from the repository's `.venv`, on a free port of this machine.
//!
//! `.ci/ministack.sh` installs it, and `.ci/deploy.sh` what deploys to it. Where it is not installed its tests say so
//! and pass, except in CI (`CI=true`), where they fail: a tier that never runs proves nothing.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use dormouse_aws::config::AwsConfig;

/// It starts in under a second, on a busy machine in a few.
const START_MAX: Duration = Duration::from_secs(60);

/// The server that the tests of one process share, for as long as any of them holds it.
static SHARED: Mutex<Weak<Ministack>> = Mutex::new(Weak::new());

/// The server, with a scheduler that looks every half a second for what is due, and not every ten.
const PROGRAM: &str = "import ministack.services.scheduler as scheduler; \
    scheduler._SCHEDULE_TICK_INTERVAL = 0.5; from ministack.app import main; main()";

/// A running server.
pub struct Ministack {
    endpoint: String,
    /// Where functions find AWS.
    functions_endpoint: String,
    keeper: Child,
}

impl Ministack {
    /// The running server of this process, started if need be. `None` where it is not installed, after a loud
    /// word about it.
    ///
    /// # Errors
    ///
    /// It does not start; or it is not installed, and this is CI.
    pub fn shared() -> Result<Option<Arc<Self>>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Ok(Some(running));
        }
        if !installed("python")? {
            return Ok(None);
        }
        let started = Arc::new(Self::start(None)?);
        *shared = Arc::downgrade(&started);
        Ok(Some(started))
    }

    /// A server of its own whose functions find AWS at another endpoint, which passes on to this one. `None` where
    /// it is not installed.
    ///
    /// # Errors
    ///
    /// It does not start; or it is not installed, and this is CI.
    pub fn behind(endpoint: &str) -> Result<Option<Self>> {
        Ok(if installed("sam")? {
            Some(Self::start(Some(endpoint))?)
        } else {
            None
        })
    }

    fn start(functions_endpoint: Option<&str>) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let endpoint = format!("http://127.0.0.1:{port}");
        let functions_endpoint = functions_endpoint.unwrap_or(&endpoint).to_owned();
        // The shell ends the server when its own input ends: also when the test is killed.
        let script = r#""$0" -c "$1" & server=$!; read -r _; kill $server; wait $server"#;
        let keeper = Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(tools().join("python"))
            .arg(PROGRAM)
            .env("GATEWAY_PORT", port.to_string())
            .env("BIND_HOST", "127.0.0.1")
            .env("IOT_MTLS_ENABLED", "0")
            .env("AWS_ENDPOINT_URL", &functions_endpoint)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("sh")?;
        let started = Self {
            endpoint,
            functions_endpoint,
            keeper,
        };
        started.wait_until_it_answers(port)?;
        Ok(started)
    }

    fn wait_until_it_answers(&self, port: u16) -> Result<()> {
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline {
            if answers(port) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!(
            "ministack does not answer at {} after {START_MAX:?}",
            self.endpoint
        )
    }

    /// Where it is, like `http://127.0.0.1:41234`.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// A shell command that kills the processes of the functions whose names end so; an empty end kills all. On an
    /// emulator these are the nodes: the next event starts another one. It fails if there is none.
    #[must_use]
    pub fn kill_command(&self, end: &str) -> String {
        let endpoint = &self.functions_endpoint;
        format!(
            "killed=no; for node in $(grep -lzx 'AWS_ENDPOINT_URL={endpoint}' /proc/[0-9]*/environ 2>/dev/null); do \
             if grep -zqx 'AWS_LAMBDA_FUNCTION_NAME=.*{end}' $node 2>/dev/null && node=${{node%/environ}} && \
             kill -KILL ${{node#/proc/}}; then killed=yes; fi; done; test $killed = yes"
        )
    }

    /// The configuration for its clients.
    #[must_use]
    pub fn config(&self) -> AwsConfig {
        AwsConfig::emulator(&self.endpoint)
    }
}

/// Where the programs of the virtual environment are.
#[must_use]
pub fn tools() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin")
}

/// Whether a program is in the virtual environment; a loud word if not.
fn installed(program: &str) -> Result<bool> {
    let is_there = tools().join("ministack").exists() && tools().join(program).exists();
    if !is_there {
        let missing = "the emulator is not installed: run .ci/deploy.sh";
        if std::env::var("CI").is_ok_and(|ci| ci == "true") {
            bail!("{missing}");
        }
        eprintln!("SKIPPED: {missing}");
    }
    Ok(is_there)
}

fn answers(port: u16) -> bool {
    let health = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(
            b"GET /_ministack/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    health().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

impl Drop for Ministack {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // Nothing is lost if it went before.
        let _ = self.keeper.wait();
    }
}
