//! The SDKs for activities against the real server: each case is played in Python, JavaScript and Rust, by a worker in a
//! process of its own (`tests/sdk/worker.*`). What needs no server is tested beside each SDK, and run from here for Python
//! and JavaScript. Handlers of the kind `lambda` are invoked over a server that speaks Lambda's API.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may fail"
)]

#[cfg(feature = "aws")]
#[path = "sdk/lambda.rs"]
mod lambda;
#[cfg(feature = "aws")]
#[path = "sdk/lambda_api.rs"]
mod lambda_api;
#[path = "sdk/suite.rs"]
mod suite;
#[path = "sdk/worker.rs"]
mod worker;

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use suite::{Language, Suite, repository};

const BINARY: &str = env!("CARGO_BIN_EXE_dormouse");
const GRACE: Duration = Duration::from_secs(30);
/// Tasks under load while servers and workers are killed; `DORMOUSE_SDK_TASKS` names another number.
const TASKS: usize = 300;

#[test]
fn python_keeps_its_promises() {
    play(Language::Python);
}

#[test]
fn javascript_keeps_its_promises() {
    play(Language::JavaScript);
}

#[test]
fn rust_keeps_its_promises() {
    play(Language::Rust);
}

fn play(language: Language) {
    let mut suite = Suite::start(language);
    answers_are_taken_as_they_are(&mut suite);
    heartbeats_keep_a_long_task_and_tell_when_it_is_lost(&mut suite);
    another_worker_goes_on_where_a_killed_one_was(&mut suite);
    a_stop_lets_tasks_finish_or_be_tried_again(&mut suite);
    each_task_is_effective_once_over_kills(&mut suite);
}

fn answers_are_taken_as_they_are(suite: &mut Suite) {
    let worker = suite.worker(GRACE);
    let mut begin = |n| suite.begin("Answer", n);
    let [done, negative, again] = [begin(7), begin(-7), begin(1_000)];
    let failing = [
        (2_000, "Broken"),
        (3_000, "InvalidAnswer"),
        (4_000, "InvalidAnswer"),
    ];
    let failing = failing.map(|(n, kind)| (begin(n), kind));
    let expected = json!({ "n": 7, "attempt": 1, "tenant": "default" });
    assert_eq!(suite.result(&done), expected);
    assert_eq!(suite.result(&negative), json!({ "n": -7 }));
    assert!(suite.journal(&negative).contains("Negative"));
    assert_eq!(suite.result(&again)["attempt"], 2);
    assert_eq!(suite.counts(&again)["work Retrying"], 1);
    for (id, kind) in failing {
        let state = suite.until(&id, "Faulted");
        assert!(state["incidents"].to_string().contains(kind), "{state:#}");
    }
    let twice = suite.begin("Twice", 3);
    assert_eq!(suite.result(&twice), json!({ "n": 3 }));
    worker.says(&format!("gone True {twice}"));
    assert_eq!(suite.counts(&twice)["work Completed"], 1);
    let after = suite.begin("Answer", 1);
    suite.result(&after);
}

fn heartbeats_keep_a_long_task_and_tell_when_it_is_lost(suite: &mut Suite) {
    let worker = suite.worker(GRACE);
    let long = suite.begin("Quiet", 4_000);
    let cancelled = suite.begin("Quiet", 600_000);
    worker.says(&format!("begin {long}"));
    worker.says(&format!("begin {cancelled}"));
    let path = format!("/elsa/api/cancel/workflow-instances/{cancelled}");
    let answer = suite.client.post(&path, &json!({})).unwrap();
    assert!(answer.is_success(), "{}", answer.json());
    worker.says(&format!("lost {cancelled}"));
    assert_eq!(suite.result(&long), json!({ "n": 4_000 }));
    let counts = suite.counts(&long);
    assert_eq!(counts.get("work Retrying"), None, "{counts:?}");
    let begun = worker.lines().iter().filter(|l| l.contains(&long)).count();
    assert_eq!(begun, 1, "{:?}", worker.lines());
}

fn another_worker_goes_on_where_a_killed_one_was(suite: &mut Suite) {
    let first = suite.worker(GRACE);
    let id = suite.begin("Pages", 5);
    first.says(&format!("page 2 {id}"));
    first.kill();
    let second = suite.worker(GRACE);
    assert_eq!(suite.result(&id), json!({ "first": 2 }));
    second.says(&format!("page 4 {id}"));
    let counts = suite.counts(&id);
    assert_eq!(
        (counts["work Completed"], counts["after Completed"]),
        (1, 1)
    );
    assert!(suite.journal(&id).contains("HeartbeatTimeout"));
}

fn a_stop_lets_tasks_finish_or_be_tried_again(suite: &mut Suite) {
    let patient = suite.worker(GRACE);
    let id = suite.begin("Quiet", 2_500);
    patient.says(&format!("begin {id}"));
    patient.ask_to_stop();
    assert_eq!(suite.result(&id), json!({ "n": 2_500 }));
    let counts = suite.counts(&id);
    assert_eq!(counts.get("work Retrying"), None, "{counts:?}");
    patient.says("stopped");
    assert!(patient.ended().success());
    let id = suite.begin("Quiet", 2_600);
    let hasty = suite.worker(Duration::from_millis(50));
    hasty.says(&format!("begin {id}"));
    hasty.ask_to_stop();
    assert!(hasty.ended().success());
    let next = suite.worker(GRACE);
    next.says(&format!("begin {id}"));
    assert_eq!(suite.result(&id), json!({ "n": 2_600 }));
    assert!(suite.journal(&id).contains("WorkerStopped"));
}

fn each_task_is_effective_once_over_kills(suite: &mut Suite) {
    let tasks = std::env::var("DORMOUSE_SDK_TASKS").ok();
    let tasks = tasks.and_then(|n| n.parse().ok()).unwrap_or(TASKS);
    let port = suite.server.port;
    let starting = std::thread::spawn(move || -> Vec<String> {
        (0..tasks)
            .map(|n| {
                // Some before each kill and some after it.
                std::thread::sleep(Duration::from_millis(8));
                Suite::begin_surely(port, "Count", n)
            })
            .collect()
    });
    let mut workers = vec![suite.worker(GRACE), suite.worker(GRACE)];
    for round in 0..4_u64 {
        std::thread::sleep(Duration::from_millis(200 + round * 7_919 % 300));
        if round % 2 == 0 {
            suite.server.kill();
            suite.server.start_again();
        } else {
            workers.remove(0).kill();
            workers.push(suite.worker(GRACE));
        }
    }
    let started = starting.join().unwrap();
    suite.client = suite.server.client(0);
    for (n, id) in started.iter().enumerate() {
        assert_eq!(suite.result(id), json!({ "n": n }));
        let counts = suite.counts(id);
        let completed = (counts["work Completed"], counts["after Completed"]);
        assert_eq!(completed, (1, 1), "{id}: {counts:?}");
    }
}

/// Runs a suite that needs no server.
fn passes(program: &str, args: &[&str], folder: &str) {
    let folder = repository().join("shared/sdk").join(folder);
    let ran = Command::new(program)
        .args(args)
        .current_dir(&folder)
        .env("PYTHONPATH", &folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{program}: {said}");
}

#[test]
fn the_python_sdk_works_without_a_server() {
    passes(
        "python3",
        &["-m", "unittest", "discover", "-s", "tests"],
        "python",
    );
}

#[test]
fn the_typescript_sdk_works_without_a_server() {
    passes("node", &["--test", "tests/sdk.test.js"], "typescript");
}
