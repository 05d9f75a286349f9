//! Running the binary: commands to their end, and servers that can be killed.

use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Its output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Fails the test unless it ended with the code, and without a panic.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
        self
    }

    /// Fails the test unless the output has the text.
    #[track_caller]
    pub(crate) fn lacks(self, text: &str) -> Self {
        assert!(!self.out.contains(text), "`{text}` in: {self:?}");
        self
    }

    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text), "no `{text}` in: {self:?}");
        self
    }

    /// Fails the test unless the errors have the text.
    #[track_caller]
    pub(crate) fn complains(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no `{text}` in: {self:?}");
        self
    }
}

/// The binary with an environment of the test's own.
pub(crate) fn dormouse() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dormouse"));
    for name in [
        "DORMOUSE_URL",
        "DORMOUSE_DATA",
        "DORMOUSE_LOG",
        "DORMOUSE_TABLE",
        "DORMOUSE_BUCKET",
        "DORMOUSE_API_KEY",
        "DORMOUSE_AUTHENTICATION",
        "DORMOUSE_SECRETS_KEY",
    ] {
        command.env_remove(name);
    }
    command.env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    run_with(args, &[])
}

/// Runs a command to its end, with more variables.
pub(crate) fn run_with<S: AsRef<std::ffi::OsStr>>(
    args: impl IntoIterator<Item = S>,
    variables: &[(&str, &str)],
) -> Ran {
    ran(dormouse().args(args).envs(variables.iter().copied()))
}

fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// An example that is delivered with the binary.
pub(crate) fn example(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    folder.join(name).with_extension("json")
}

/// A folder of the test's own.
pub(crate) fn folder() -> TempDir {
    // As a data folder is: nobody else may read it.
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    tempfile::Builder::new()
        .permissions(private)
        .tempdir()
        .unwrap()
}

/// A running server. Killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    data: PathBuf,
    /// What it said of itself when it began.
    pub(crate) hello: Value,
    out: BufReader<ChildStdout>,
    pub(crate) urls: Vec<String>,
}

impl Server {
    /// Starts a server over a data folder, on free ports.
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[])
    }

    pub(crate) fn start_with(data: &Path, more: &[&str]) -> Self {
        let mut child = dormouse()
            .args(["serve", "--json", "--port", "0", "--data"])
            .arg(data)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let hello: Value = serde_json::from_str(&line).expect("the server says where it listens");
        let urls = hello["urls"].as_array().unwrap().iter();
        Self {
            urls: urls.map(|url| url.as_str().unwrap().to_owned()).collect(),
            data: data.to_owned(),
            hello: hello.clone(),
            child,
            out,
        }
    }

    /// The command line's key in its data folder.
    pub(crate) fn key(&self) -> String {
        std::fs::read_to_string(self.data.join("cli-key")).unwrap()
    }

    /// Runs a command against its first node.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_at(0, args)
    }

    /// Runs a command against one of its nodes, with the key of its data folder.
    pub(crate) fn run_at(&self, node: usize, args: &[&str]) -> Ran {
        let command = &mut dormouse();
        command.args(args).args(["--url", &self.urls[node]]);
        ran(command.env("DORMOUSE_DATA", &self.data))
    }

    /// Runs a command against its first node, with this on its standard input.
    pub(crate) fn run_reading(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(input).unwrap();
        file.rewind().unwrap();
        let command = &mut dormouse();
        command.args(args).args(["--url", &self.urls[0]]);
        ran(command.env("DORMOUSE_DATA", &self.data).stdin(file))
    }

    /// Runs a command against its first node and reads its JSON.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--json"]].concat()).ended(0).json()
    }

    /// Publishes an example.
    #[track_caller]
    pub(crate) fn publish(&self, name: &str) {
        let file = example(name);
        self.run(&["publish", file.to_str().unwrap()]).ended(0);
    }

    /// Waits until an instance stands so.
    #[track_caller]
    pub(crate) fn wait_for(&self, instance: &str, sub_status: &str) -> Value {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let shown = self.json(&["show", instance]);
            if shown["instance"]["subStatus"] == sub_status {
                return shown;
            }
            assert!(Instant::now() < until, "not {sub_status}: {shown:#}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// kill -9, while others still use it.
    pub(crate) fn kill_now(&self) {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-KILL", &id]).status().unwrap();
        assert!(asked.success());
    }

    /// kill -9.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, and gives its exit code and what it said since it began.
    #[cfg(unix)]
    pub(crate) fn stop(mut self) -> (i32, String) {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(asked.success());
        let mut said = String::new();
        self.out.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code().unwrap_or(-1), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
