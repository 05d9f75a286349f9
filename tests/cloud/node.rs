//! A container beside the functions: the server as a process, with the names that the stack tells.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use dormouse_tests::cloud::Cloud;
use dormouse_tests::http_client::Client;
use tempfile::NamedTempFile;

/// A running server. Dropping it ends it.
pub(super) struct Node {
    child: Child,
    port: u16,
    log: NamedTempFile,
}

impl Node {
    /// Starts one, and waits until it is ready.
    pub(super) fn start(binary: &Path, cloud: &Cloud) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = NamedTempFile::new()?;
        let child = Command::new(binary)
            .args(["serve", "--table", "dynamodb", "--log", "info"])
            .args(["--port", &port.to_string()])
            .envs(cloud.variables())
            .env("AWS_ENDPOINT_URL", cloud.recorder.endpoint())
            .env("AWS_SDK_UA_APP_ID", "dormouse-node")
            .env("DORMOUSE_AUTHENTICATION", "none")
            .stdin(Stdio::null())
            .stdout(log.reopen()?)
            .stderr(log.reopen()?)
            .spawn()
            .with_context(|| format!("{}", binary.display()))?;
        let node = Self { child, port, log };
        let begin = Instant::now();
        while !node
            .client()
            .get("/health/ready")
            .is_ok_and(|r| r.is_success())
        {
            ensure!(
                begin.elapsed() < Duration::from_secs(60),
                "not ready: {}",
                node.log()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(node)
    }

    /// A client of it.
    pub(super) fn client(&self) -> Client {
        Client::new(self.port)
    }

    /// What it wrote.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.log.path()).unwrap_or_default()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
