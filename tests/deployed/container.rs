//! A container: the server as a process, with the names that the stack tells, and AWS behind the recorder.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use dormouse_tests::cloud::Cloud;
use dormouse_tests::http_client::Client;
use tempfile::NamedTempFile;

/// How a container calls itself when it calls AWS.
pub(crate) const CALLER: &str = "dormouse-node";

/// A running container. Dropping it kills it.
pub(crate) struct Container {
    child: Child,
    port: u16,
    log: NamedTempFile,
}

impl Container {
    /// Starts one, and waits until it is ready.
    pub(crate) fn start(binary: &Path, cloud: &Cloud) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = NamedTempFile::new()?;
        let child = Command::new(binary)
            .args(["serve", "--table", "dynamodb", "--log", "info"])
            .args(["--port", &port.to_string()])
            .env("DORMOUSE_TABLE", cloud.output("TableName"))
            .env("DORMOUSE_BUCKET", cloud.output("BucketName"))
            .env("DORMOUSE_AUTHENTICATION", "none")
            .env("AWS_ENDPOINT_URL", cloud.recorder.endpoint())
            .env("AWS_SDK_UA_APP_ID", CALLER)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .stdin(Stdio::null())
            .stdout(log.reopen()?)
            .stderr(log.reopen()?)
            .spawn()
            .with_context(|| binary.display().to_string())?;
        let container = Self { child, port, log };
        let begin = Instant::now();
        while !container.is_ready() {
            let log = std::fs::read_to_string(container.log.path())?;
            ensure!(
                begin.elapsed() < Duration::from_secs(60),
                "not ready: {log}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(container)
    }

    fn is_ready(&self) -> bool {
        let answer = self.client().get("/health/ready");
        answer.is_ok_and(|answer| answer.is_success())
    }

    /// A client of it.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.port)
    }

    /// Asks it to stop, as an orchestrator does, and waits until it has.
    pub(crate) fn stop(mut self) -> Result<ExitStatus> {
        let id = self.child.id().to_string();
        ensure!(Command::new("kill").arg(id).status()?.success());
        Ok(self.child.wait()?)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
