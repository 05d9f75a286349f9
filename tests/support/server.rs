//! The real server as a process: started, waited for, killed, paused, asked to stop.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::http_client::Client;

/// How long a server may take until it is ready, and to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `dormouse serve`. Dropping it kills it.
#[derive(Debug)]
pub struct Server {
    binary: PathBuf,
    args: Vec<String>,
    variables: Vec<(String, String)>,
    log: PathBuf,
    nodes: u16,
    /// The first node's port; the others follow.
    pub port: u16,
    child: Option<Child>,
    /// How long it took until it was ready.
    pub ready_after: Duration,
}

impl Server {
    /// Starts a server of so many nodes over a data folder, on free ports, and waits until it is ready.
    #[must_use]
    pub fn start(binary: &Path, data: &Path, nodes: u16) -> Self {
        let args = ["--data", data.to_str().expect("a folder in UTF-8")];
        Self::start_with(binary, &args, &[], &data.with_extension("log"), nodes)
    }

    /// Starts a server with these arguments and variables, which writes to a log.
    #[must_use]
    pub fn start_with(
        binary: &Path,
        args: &[&str],
        variables: &[(&str, &str)],
        log: &Path,
        nodes: u16,
    ) -> Self {
        let owned = |text: &&str| (*text).to_owned();
        let mut server = Self {
            binary: binary.to_owned(),
            args: args.iter().map(owned).collect(),
            variables: variables
                .iter()
                .map(|(name, value)| (owned(name), owned(value)))
                .collect(),
            log: log.to_owned(),
            nodes,
            port: free_ports(nodes),
            child: None,
            ready_after: Duration::ZERO,
        };
        server.start_again();
        server
    }

    /// Starts it again after it was killed, on the same ports.
    pub fn start_again(&mut self) {
        let begin = Instant::now();
        self.spawn();
        for node in 0..self.nodes {
            let mut client = Client::new(self.port + node);
            loop {
                if client.get("/health/ready").is_ok_and(|r| r.is_success()) {
                    break;
                }
                assert!(
                    begin.elapsed() < PATIENCE,
                    "the server is not ready after {PATIENCE:?}; it wrote:\n{}",
                    self.log()
                );
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.ready_after = begin.elapsed();
    }

    fn spawn(&mut self) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&self.log)
            .expect("the log's folder can be written to");
        let child = Command::new(&self.binary)
            .arg("serve")
            .args(["--port", &self.port.to_string()])
            .args(["--nodes", &self.nodes.to_string()])
            .args(&self.args)
            // What these servers show is not about who may ask.
            .env("DORMOUSE_AUTHENTICATION", "none")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file handle"))
            .stderr(log)
            .spawn()
            .expect("the binary can be started");
        self.child = Some(child);
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// What it wrote, from its first start on.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// A client of one of the nodes.
    #[must_use]
    pub fn client(&self, node: u16) -> Client {
        Client::new(self.port + node % self.nodes)
    }

    /// Kills it as `kill -9` does.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself; either way it is gone afterwards.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Stops all its threads where they are, as SIGSTOP does.
    pub fn pause(&self) {
        self.signal("STOP");
    }

    /// Lets it go on after a pause.
    pub fn go_on(&self) {
        self.signal("CONT");
    }

    /// Asks it to stop, as SIGTERM does, and waits until it has.
    pub fn stop(&mut self) -> ExitStatus {
        self.signal("TERM");
        let mut child = self.child.take().expect("it runs");
        let begin = Instant::now();
        loop {
            if let Some(status) = child.try_wait().expect("a child of this process") {
                return status;
            }
            if begin.elapsed() > PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                panic!(
                    "the server does not stop in {PATIENCE:?}; it wrote:\n{}",
                    self.log()
                );
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.id().to_string()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "kill -{name}");
    }

    /// Resident memory, bytes; 0 where the system does not tell.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find(|l| l.starts_with("VmRSS:"));
        line.and_then(|l| l.split_whitespace().nth(1))
            .and_then(|kb| kb.parse::<u64>().ok())
            .unwrap_or(0)
            * 1024
    }

    /// The processor time that the server has used so far, in ms: its 14th and 15th facts, in hundredths of a second.
    #[must_use]
    pub fn cpu_ms(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap_or_default();
        // The second fact is a name in parentheses, which may hold anything.
        let facts = stat.rsplit(')').next().unwrap_or_default();
        let facts = facts.split_whitespace().skip(11).take(2);
        facts
            .filter_map(|fact| fact.parse::<u64>().ok())
            .sum::<u64>()
            * 10
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The first of so many ports in a row that are free now. They lie below the range from which clients get theirs, so
/// that nobody takes one while the server is being restarted.
fn free_ports(count: u16) -> u16 {
    let since = std::time::UNIX_EPOCH
        .elapsed()
        .map_or(0, |d| d.subsec_nanos());
    let mut number = u64::from(std::process::id()) ^ (u64::from(since) << 16);
    for _ in 0..1_000 {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let first = 12_000 + u16::try_from((number >> 33) % 18_000).unwrap_or(0);
        let all: Vec<_> = (first..first + count)
            .map(|p| TcpListener::bind(("127.0.0.1", p)))
            .collect();
        if all.iter().all(Result::is_ok) {
            return first;
        }
    }
    panic!("no {count} free ports in a row");
}
