//! Activities whose types are data, while the server is killed with -9 and workers die with tasks in their hands: each
//! instance ends, each activity completes once, and of all answers for one of them one counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dormouse_tests::api::{journal, look, publish, start};
use dormouse_tests::http_client::Client;
use dormouse_tests::receiver::{Receiver, SECRET};
use dormouse_tests::server::Server;
use serde_json::{Value, json};

const NODES: u16 = 2;
const WORKERS: u64 = 4;
const INSTANCES: usize = 60;
const ROUNDS: u64 = 10;
/// How long the last ones may take after the last kill.
const PATIENCE: Duration = Duration::from_secs(90);

/// What the workers have seen.
#[derive(Default)]
struct Seen {
    /// Answers that were acknowledged, by instance.
    acknowledged: Mutex<BTreeMap<String, usize>>,
    /// Tasks that were dropped as if their worker had died.
    dropped: AtomicU64,
    /// Answers that came too late.
    late: AtomicU64,
    is_over: AtomicBool,
}

fn put(client: &mut Client, name: &str, ty: &Value) {
    let headers = [("content-type", "application/json")];
    let path = format!("/elsa/api/activity-types/{name}");
    let answer = client.send("PUT", &path, &headers, ty.to_string().as_bytes());
    let answer = answer.unwrap();
    assert_eq!(
        answer.status,
        201,
        "{}",
        String::from_utf8_lossy(&answer.body)
    );
}

/// Asks for tasks and answers them until it is over. Every sixth one is dropped.
fn work(port: u16, number: u64, seen: &Seen) {
    let mut client = Client::new(port);
    let mut count = number;
    while !seen.is_over.load(Ordering::Relaxed) {
        let body = json!({ "queue": "q", "types": ["Acme.Work"], "max": 2, "waitMs": 200, "workerId": format!("w{number}") });
        let Ok(answer) = client.post("/elsa/api/tasks/poll", &body) else {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        for task in answer.json()["tasks"].as_array().into_iter().flatten() {
            count += 1;
            if count.is_multiple_of(6) {
                seen.dropped.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            answer_for(&mut client, task, seen);
        }
    }
}

/// Answers until it is known whether the answer counts.
fn answer_for(client: &mut Client, task: &Value, seen: &Seen) {
    let id = task["taskId"].as_str().unwrap();
    let body = json!({ "outputs": { "receipt": id } });
    let path = format!("/elsa/api/tasks/{id}/complete");
    while !seen.is_over.load(Ordering::Relaxed) {
        match client.post(&path, &body).map(|answer| answer.status) {
            Ok(200..=299) => {
                let instance = task["workflow"]["instanceId"].as_str().unwrap().to_owned();
                *seen
                    .acknowledged
                    .lock()
                    .unwrap()
                    .entry(instance)
                    .or_default() += 1;
                return;
            }
            Ok(404 | 409) => {
                seen.late.fetch_add(1, Ordering::Relaxed);
                return;
            }
            Ok(_) | Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Starts instances, each under its key until that is acknowledged.
fn start_all(port: u16) -> Vec<String> {
    let mut client = Client::new(port);
    let mut started = Vec::new();
    for n in 0..INSTANCES {
        loop {
            if let Ok(answer) = start(&mut client, "own", &format!("k{n}"))
                && answer.is_success()
            {
                let state = &answer.json()["workflowState"];
                started.push(state["id"].as_str().unwrap().to_owned());
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(80));
    }
    started
}

fn completed(client: &mut Client, id: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in journal(client, id).unwrap() {
        if line["eventName"] == "Completed" {
            let activity = line["activityId"].as_str().unwrap().to_owned();
            *counts.entry(activity).or_default() += 1;
        }
    }
    counts
}

#[test]
fn own_activities_survive_kill_9_and_one_answer_for_each_counts() {
    let receiver = Receiver::refusing(5);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let args = [
        "--data",
        data.to_str().unwrap(),
        "--allow-private-egress",
        "--webhook-secret",
        SECRET,
    ];
    let log = folder.path().join("server.log");
    let mut server = Server::start_with(Path::new(super::BINARY), &args, &[], &log, NODES);
    let mut client = server.client(0);
    let retry = json!({ "maxAttempts": 50, "intervalMs": 50, "maxIntervalMs": 500 });
    let own = json!({
        "outputs": [{ "name": "receipt", "type": "String" }],
        "handler": { "kind": "worker", "queue": "q" }, "timeoutMs": 20_000, "heartbeatMs": 1_000, "retry": retry,
    });
    put(&mut client, "Acme.Work", &own);
    let call = json!({ "handler": { "kind": "http", "url": receiver.url() }, "timeoutMs": 5_000, "retry": retry });
    put(&mut client, "Acme.Call", &call);
    let definition = json!({
        "definitionId": "own", "name": "own",
        "root": { "id": "all", "type": "Elsa.Sequence", "activities": [
            { "id": "work", "type": "Acme.Work" },
            { "id": "call", "type": "Acme.Call" },
            { "id": "after", "type": "Elsa.WriteLine", "text": "done" },
        ]},
    });
    publish(&mut client, &definition);

    let (seen, port) = (Seen::default(), server.port);
    let started = std::thread::scope(|scope| {
        for number in 0..WORKERS {
            let port = port + u16::try_from(number).unwrap() % NODES;
            let seen = &seen;
            scope.spawn(move || work(port, number, seen));
        }
        let starting = scope.spawn(move || start_all(port));
        for round in 0..ROUNDS {
            std::thread::sleep(Duration::from_millis(200 + round * 7_919 % 450));
            server.kill();
            server.start_again();
        }
        let started = starting.join().unwrap();
        let until = Instant::now() + PATIENCE;
        let mut left: BTreeSet<&String> = started.iter().collect();
        let mut client = server.client(1);
        while !left.is_empty() && Instant::now() < until {
            left.retain(|id| {
                let found = look(&mut client, id).unwrap().unwrap();
                found.sub_status != "Finished"
            });
            std::thread::sleep(Duration::from_millis(50));
        }
        seen.is_over.store(true, Ordering::Relaxed);
        let stuck: Vec<_> = left.iter().map(|id| look(&mut client, id)).collect();
        assert!(stuck.is_empty(), "{stuck:#?}\n{}", server.log());
        started
    });

    let mut client = server.client(0);
    let once = [("after", 1), ("call", 1), ("work", 1)];
    for id in &started {
        let counts = completed(&mut client, id);
        for (activity, times) in once {
            assert_eq!(counts.get(activity), Some(&times), "{id}: {counts:?}");
        }
    }
    let acknowledged = seen.acknowledged.lock().unwrap().clone();
    let twice: Vec<_> = acknowledged
        .iter()
        .filter(|(_, times)| **times > 1)
        .collect();
    assert!(twice.is_empty(), "acknowledged more than once: {twice:?}");
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for message in receiver.received() {
        let body = message.json();
        assert_eq!(Some(message.signed_id()), body["taskId"].as_str());
        let of = |value: &Value| value.as_str().unwrap().to_owned();
        let instance = of(&body["workflow"]["instanceId"]);
        keys.entry(instance)
            .or_default()
            .insert(of(&body["idempotencyKey"]));
    }
    assert_eq!(
        keys.len(),
        INSTANCES,
        "each instance has called its handler"
    );
    assert!(keys.values().all(|keys| keys.len() == 1), "{keys:?}");
    let (dropped, late) = (
        seen.dropped.load(Ordering::Relaxed),
        seen.late.load(Ordering::Relaxed),
    );
    println!(
        "kills {ROUNDS}, instances {INSTANCES}, answers acknowledged {}, tasks dropped {dropped}, answers too late {late}, calls {}",
        acknowledged.len(),
        receiver.received().len(),
    );
    assert!(dropped > 0, "no worker died");
}
