//! The server with the types and workflows of the suite, and worker processes of one language beside it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dormouse_tests::api::{journal, publish};
use dormouse_tests::http_client::Client;
use dormouse_tests::server::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::worker::IS_WORKER;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The languages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Language {
    Python,
    JavaScript,
    Rust,
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A server with what the workers work for.
pub(crate) struct Suite {
    language: Language,
    pub(crate) server: Server,
    folder: TempDir,
    pub(crate) client: Client,
}

/// A worker in a process of its own. Killed when it is dropped.
pub(crate) struct Worker {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    log: PathBuf,
}

fn types() -> [(&'static str, Value); 5] {
    let retry =
        |attempts: u64| json!({ "maxAttempts": attempts, "intervalMs": 10, "maxIntervalMs": 200 });
    [
        (
            "Answer",
            json!({ "outcomes": ["Done", "Negative"], "retry": retry(2) }),
        ),
        ("Quiet", json!({ "heartbeatMs": 1_500, "retry": retry(3) })),
        ("Pages", json!({ "heartbeatMs": 900, "retry": retry(1) })),
        ("Twice", json!({})),
        (
            "Count",
            json!({ "heartbeatMs": 900, "timeoutMs": 20_000, "retry": retry(50) }),
        ),
    ]
}

fn workflow(name: &str) -> Value {
    json!({
        "definitionId": name, "name": name,
        "inputs": [{ "name": "N", "type": "Int64" }],
        "outputs": [{ "name": "Result", "type": "Object" }],
        "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            {
                "id": "work", "type": format!("Acme.{name}"),
                "n": { "typeName": "Int64", "expression": { "type": "JavaScript", "value": "getInput('N')" } },
                "result": { "typeName": "Object", "memoryReference": { "id": "Result" } },
            },
            { "id": "after", "type": "Elsa.WriteLine", "text": "after" },
        ]},
    })
}

impl Suite {
    pub(crate) fn start(language: Language) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let binary = Path::new(super::BINARY);
        let server = Server::start(binary, &folder.path().join("data"), 1);
        let mut client = server.client(0);
        for (name, more) in types() {
            let mut ty = json!({
                "inputs": [{ "name": "n", "type": "Int64", "isRequired": true }],
                "outputs": [{ "name": "result", "type": "Object" }],
                "handler": { "kind": "worker", "queue": "sdk" },
            });
            ty.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            let path = format!("/elsa/api/activity-types/Acme.{name}");
            let headers = [("content-type", "application/json")];
            let answer = client.send("PUT", &path, &headers, ty.to_string().as_bytes());
            let answer = answer.unwrap();
            assert_eq!(answer.status, 201, "{}", answer.json());
            publish(&mut client, &workflow(name));
        }
        Self {
            language,
            server,
            folder,
            client,
        }
    }

    /// Starts a worker, and waits until it is about to work.
    pub(crate) fn worker(&self, grace: Duration) -> Worker {
        let mut command = match self.language {
            Language::Python => {
                let mut command = Command::new("python3");
                command.arg(repository().join("tests/sdk/worker.py"));
                command.env("PYTHONPATH", repository().join("shared/sdk/python"));
                command.env("PYTHONDONTWRITEBYTECODE", "1");
                command
            }
            Language::JavaScript => {
                let mut command = Command::new("node");
                command.arg(repository().join("tests/sdk/worker.mjs"));
                command
            }
            Language::Rust => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["--exact", "worker::worker_process", "--nocapture"]);
                command.env(IS_WORKER, "1");
                command
            }
        };
        let log = self.folder.path().join("worker.log");
        let errors = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&log);
        let mut child = command
            .env(
                "DORMOUSE_URL",
                format!("http://127.0.0.1:{}", self.server.port),
            )
            .env("DORMOUSE_DATA", self.folder.path().join("data"))
            .env("GRACE_MS", grace.as_millis().to_string())
            .env_remove("DORMOUSE_API_KEY")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors.unwrap())
            .spawn()
            .unwrap();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let (out, seen) = (child.stdout.take().unwrap(), Arc::clone(&lines));
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                seen.lock().unwrap().push(line);
            }
        });
        let worker = Worker { child, lines, log };
        worker.says("ready");
        worker
    }

    /// Starts an instance.
    pub(crate) fn begin(&mut self, name: &str, n: i64) -> String {
        let path = format!("/elsa/api/workflow-definitions/{name}/execute");
        let body = json!({ "input": { "N": n } });
        let answer = self.client.post(&path, &body).unwrap();
        assert!(answer.is_success(), "{}", answer.json());
        let id = &answer.json()["workflowState"]["id"];
        id.as_str().unwrap().to_owned()
    }

    /// Starts an instance over and over under one key, whatever becomes of the server meanwhile.
    pub(crate) fn begin_surely(port: u16, name: &str, n: usize) -> String {
        let path = format!("/elsa/api/workflow-definitions/{name}/execute");
        let body = json!({ "input": { "N": n } });
        let mut client = Client::new(port);
        loop {
            match client.post_once(&path, &format!("{name}-{n}"), &body) {
                Ok(answer) if answer.is_success() => {
                    let id = &answer.json()["workflowState"]["id"];
                    return id.as_str().unwrap().to_owned();
                }
                Ok(_) | Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Waits until an instance stands so.
    pub(crate) fn until(&mut self, id: &str, sub_status: &str) -> Value {
        let path = format!("/elsa/api/workflow-instances/{id}");
        let begin = Instant::now();
        loop {
            let shown = self.client.get(&path).unwrap().json();
            let state = &shown["workflowState"];
            if state["subStatus"] == sub_status {
                return state.clone();
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "not {sub_status}: {shown:#}\n{}\n{}",
                self.server.log(),
                std::fs::read_to_string(self.folder.path().join("worker.log")).unwrap_or_default(),
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until an instance has finished: its result.
    pub(crate) fn result(&mut self, id: &str) -> Value {
        self.until(id, "Finished")["output"]["Result"].clone()
    }

    /// How often each activity has completed and was tried again.
    pub(crate) fn counts(&mut self, id: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for line in journal(&mut self.client, id).unwrap() {
            let activity = line["activityId"].as_str().unwrap_or_default();
            let event = line["eventName"].as_str().unwrap_or_default();
            *counts.entry(format!("{activity} {event}")).or_default() += 1;
        }
        counts
    }

    /// All lines of an instance's journal as text.
    pub(crate) fn journal(&mut self, id: &str) -> String {
        Value::Array(journal(&mut self.client, id).unwrap()).to_string()
    }
}

impl Worker {
    /// Waits until it has said a line that begins so.
    pub(crate) fn says(&self, words: &str) -> String {
        let begin = Instant::now();
        loop {
            let lines = self.lines.lock().unwrap().clone();
            if let Some(line) = lines.iter().find(|line| line.starts_with(words)) {
                return line.clone();
            }
            let log = || std::fs::read_to_string(&self.log).unwrap_or_default();
            assert!(
                begin.elapsed() < PATIENCE,
                "no `{words}` in {lines:?}\n{}",
                log()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What it has said so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// kill -9.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM.
    pub(crate) fn ask_to_stop(&self) {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status();
        assert!(asked.unwrap().success());
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "it does not stop: {:?}",
                self.lines()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
