//! AWS in a process beside the test: ministack from the repository's `.venv`, on a free port of this machine.
//!
//! `.ci/ministack.sh` installs it. Where it is not installed its tests say so and pass, except in CI (`CI=true`),
//! where they fail: a tier that never runs proves nothing.

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

/// A running server.
pub struct Ministack {
    endpoint: String,
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
        let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin/ministack");
        if !program.exists() {
            let missing = "ministack is not installed: run .ci/ministack.sh";
            if std::env::var("CI").is_ok_and(|ci| ci == "true") {
                bail!("{missing}");
            }
            eprintln!("SKIPPED: {missing}");
            return Ok(None);
        }
        let started = Arc::new(Self::start(&program)?);
        *shared = Arc::downgrade(&started);
        Ok(Some(started))
    }

    fn start(program: &PathBuf) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let endpoint = format!("http://127.0.0.1:{port}");
        // The shell ends the server when its own input ends: also when the test is killed.
        let script = r#""$0" & server=$!; read -r _; kill $server; wait $server"#;
        let keeper = Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(program)
            .env("GATEWAY_PORT", port.to_string())
            .env("BIND_HOST", "127.0.0.1")
            .env("IOT_MTLS_ENABLED", "0")
            .env("AWS_ENDPOINT_URL", &endpoint)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("sh")?;
        let started = Self { endpoint, keeper };
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

    /// The configuration for its clients.
    #[must_use]
    pub fn config(&self) -> AwsConfig {
        AwsConfig::emulator(&self.endpoint)
    }
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
