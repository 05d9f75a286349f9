//! The real server killed with -9 at random moments under load: nothing acknowledged is lost, nothing happens twice,
//! nothing is stuck. `DORMOUSE_KILL_ROUNDS` says how often (20 unless told).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails with a sentence"
)]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dormouse_tests::api::{complete_task, journal, look, publish, seen, trigger_event};
use dormouse_tests::flow::flow;
use dormouse_tests::http_client::{Client, Response};
use dormouse_tests::primitives::{delay, task};
use dormouse_tests::server::Server;
use dormouse_tests::{activity, js, workflow};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_dormouse");
const NODES: u16 = 3;
const WORKERS: usize = 6;
const DELAY_MS: i64 = 500;

/// What the workers were told.
#[derive(Default)]
struct Told {
    /// Instance id by key, for each acknowledged start.
    started: Mutex<BTreeMap<String, String>>,
    retried: AtomicUsize,
    resumed: AtomicUsize,
}

#[test]
fn what_was_acknowledged_survives_kill_9_and_happens_once() {
    let rounds: u32 = std::env::var("DORMOUSE_KILL_ROUNDS")
        .ok()
        .and_then(|r| r.parse().ok())
        .unwrap_or(20);
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(Path::new(BINARY), &folder.path().join("data"), NODES);
    let mut client = server.client(0);
    let wait = activity("Elsa.Event")
        .input("eventName", js("'go-' + getInput('Key')"))
        .id("wait");
    for root in [
        (
            "kill-task",
            flow("before > work > after", [task("work").id("work")]),
        ),
        (
            "kill-sleep",
            flow("sleep > awake", [delay("00:00:00.500").id("sleep")]),
        ),
        ("kill-event", flow("wait > went", [wait])),
    ] {
        publish(&mut client, workflow(root.0, root.1).json());
    }
    let told = Told::default();
    let is_over = AtomicBool::new(false);
    let port = server.port;
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (told, is_over) = (&told, &is_over);
            scope.spawn(move || work(port, worker, told, is_over));
        }
        // Which moment is hit is chance anyway; the pauses only have to differ.
        for round in 0..rounds {
            std::thread::sleep(Duration::from_millis(150 + u64::from(round * 7_919 % 450)));
            server.kill();
            server.start_again();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let started = told.started.into_inner().unwrap();
    let mut client = server.client(1);
    let stuck = wait_until_at_rest(&mut client, &started);
    let mut wrong = Vec::new();
    for (key, id) in &started {
        if !stuck.contains(key) {
            wrong.extend(check(&mut client, key, id));
        }
    }
    println!(
        "rounds {rounds}, acknowledged starts {}, acknowledged resumes {}, requests repeated {}, stuck {}, wrong {}",
        started.len(),
        told.resumed.load(Ordering::Relaxed),
        told.retried.load(Ordering::Relaxed),
        stuck.len(),
        wrong.len()
    );
    assert!(
        stuck.is_empty(),
        "these are stuck: {stuck:?}\n{}",
        server.log()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        started.len() > rounds as usize,
        "too little load to say anything: {}",
        started.len()
    );
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

/// Starts and resumes instances, each until it is acknowledged.
fn work(port: u16, worker: usize, told: &Told, is_over: &AtomicBool) {
    let mut number = 0_u32;
    while !is_over.load(Ordering::Relaxed) {
        let key = format!("w{worker}-{number}");
        let kind = ["kill-task", "kill-sleep", "kill-event"][number as usize % 3];
        number += 1;
        let node = u16::try_from(number).unwrap_or(0);
        let response = until_acknowledged(port, node, told, |client| {
            let path = format!("/elsa/api/workflow-definitions/{kind}/execute");
            client.post_once(&path, &key, &json!({ "input": { "Key": key } }))
        });
        let state = seen(&response.json()["workflowState"]);
        assert!(
            !state.id.is_empty(),
            "{}",
            String::from_utf8_lossy(&response.body)
        );
        told.started
            .lock()
            .unwrap()
            .insert(key.clone(), state.id.clone());
        match kind {
            // A start that is repeated may find its instance further on; then there is nothing to complete.
            "kill-task" if !state.bookmarks.is_empty() => {
                let task = format!("{}.{}", state.id, state.bookmarks[0]);
                until_acknowledged(port, node, told, |client| complete_task(client, &task));
            }
            "kill-event" => {
                until_acknowledged(port, node, told, |client| {
                    trigger_event(client, &format!("go-{key}"), &key)
                });
            }
            _ => continue,
        }
        told.resumed.fetch_add(1, Ordering::Relaxed);
    }
}

/// Repeats a request until the server says that it is done. Without an answer it may have happened or not.
fn until_acknowledged(
    port: u16,
    node: u16,
    told: &Told,
    mut request: impl FnMut(&mut Client) -> io::Result<Response>,
) -> Response {
    let begin = Instant::now();
    let mut client = Client::new(port + node % NODES);
    loop {
        let last = match request(&mut client) {
            Ok(response) if response.is_success() => return response,
            Ok(response) => {
                let body = String::from_utf8_lossy(&response.body);
                // Done already, by a try whose answer was lost.
                if ["instanceEnded", "bookmarkGone"]
                    .iter()
                    .any(|code| body.contains(code))
                {
                    return response;
                }
                let last = format!("{} {body}", response.status);
                assert!(matches!(response.status, 409 | 429 | 503), "{last}");
                last
            }
            Err(error) => error.to_string(),
        };
        told.retried.fetch_add(1, Ordering::Relaxed);
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "no answer for a minute, but {last}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until every instance has ended; gives the keys of those that have not after two sweeps.
fn wait_until_at_rest(client: &mut Client, started: &BTreeMap<String, String>) -> Vec<String> {
    let begin = Instant::now();
    let mut open: Vec<String> = started.keys().cloned().collect();
    while !open.is_empty() && begin.elapsed() < Duration::from_secs(130) {
        open.retain(|key| match look(client, &started[key]) {
            Ok(Some(seen)) => seen.sub_status != "Finished",
            Ok(None) => panic!("the acknowledged start {key} ({}) is lost", started[key]),
            Err(error) => panic!("the server does not answer: {error}"),
        });
        std::thread::sleep(Duration::from_millis(100));
    }
    open
}

/// What is wrong with the journal of an instance that has ended.
fn check(client: &mut Client, key: &str, id: &str) -> Vec<String> {
    let lines = journal(client, id).unwrap();
    let mut wrong = Vec::new();
    let numbers: Vec<_> = lines
        .iter()
        .map(|l| l["sequence"].as_u64().unwrap_or(u64::MAX))
        .collect();
    if numbers.is_empty()
        || numbers
            .iter()
            .enumerate()
            .any(|(at, number)| at as u64 != *number)
    {
        wrong.push(format!("{key} {id}: the journal's numbers are {numbers:?}"));
    }
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for line in &lines {
        let name = |field: &str| line[field].as_str().unwrap_or_default();
        *counts
            .entry((name("activityId"), name("eventName")))
            .or_default() += 1;
    }
    for ((activity, event), count) in counts {
        if matches!(event, "Started" | "Resumed" | "Completed") && count != 1 {
            wrong.push(format!("{key} {id}: {activity} has {count} × {event}"));
        }
    }
    wrong.extend(early(&lines).map(|ms| format!("{key} {id}: the delay took {ms} ms")));
    wrong
}

/// How long a delay took, if that was too short.
fn early(lines: &[Value]) -> Option<i64> {
    let at = |event: &str| {
        let line = lines
            .iter()
            .find(|l| l["activityType"] == "Elsa.Delay" && l["eventName"] == event)?;
        let time: jiff::Timestamp = line["timestamp"].as_str()?.parse().ok()?;
        Some(time.as_millisecond())
    };
    let took = at("Resumed")? - at("Started")?;
    (took < DELAY_MS).then_some(took)
}
