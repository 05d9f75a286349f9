//! What a wake-up costs of our own time: `cargo bench -p dormouse-cost --bench overhead`.
//!
//! The use cases as the functions call them, over a table in memory whose calls take next to no time: what is left is
//! reading the state, running the engine, and writing what became of it. Beside it stands a start, which does the same
//! work without a lease and without a state to read.

#![allow(
    clippy::large_futures,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench prints, and fails by panicking"
)]

use std::time::{Duration, Instant};

use dormouse_cost::Account;
use dormouse_engine::definition::Definition;
use dormouse_runtime::{
    DefinitionHandle, ResumeOutcome, ResumeRequest, StartOutcome, StartRequest,
};
use serde_json::{Map, Value, json};

/// How many instances are started and resumed.
const INSTANCES: usize = 5_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(wake_ups());
}

/// Instances of one workflow that waits for a task between two activities.
async fn wake_ups() {
    let account = Account::new();
    publish(&account).await;
    let (mut starts, mut resumes) = (Vec::new(), Vec::new());
    let mut waiting = Vec::new();
    for _ in 0..INSTANCES {
        let begin = Instant::now();
        waiting.push(start(&account).await);
        starts.push(begin.elapsed());
    }
    for (instance, bookmark) in waiting {
        let begin = Instant::now();
        let request = ResumeRequest::bookmark(instance, bookmark, Map::new());
        let resumed = account
            .runtime()
            .instances()
            .resume(account.tenant(), request)
            .await;
        resumes.push(begin.elapsed());
        assert!(matches!(resumed.unwrap(), ResumeOutcome::Resumed(_)));
    }
    tell("start, until it waits", starts);
    tell("resume, until it ends", resumes);
}

fn tell(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |hundredth: usize| {
        let place = times.len() * hundredth / 100;
        times.get(place).unwrap().as_secs_f64() * 1_000.0
    };
    println!("{what}: {:.3} ms p50, {:.3} ms p99", at(50), at(99));
}

async fn publish(account: &Account) {
    let literal = |text: &str| json!({ "typeName": "String", "expression": { "type": "Literal", "value": text } });
    let write = |id: &str| json!({ "type": "Elsa.WriteLine", "id": id, "text": literal("hello") });
    let task = json!({ "type": "Elsa.RunTask", "id": "task", "taskName": literal("Ask") });
    let activities: [Value; 3] = [write("before"), task, write("after")];
    let definition = Definition::from_value(json!({
        "definitionId": "flow", "name": "flow", "toolVersion": "3.6.0.0",
        "root": { "type": "Elsa.Sequence", "id": "root", "activities": activities },
    }));
    let (runtime, tenant) = (account.runtime(), account.tenant());
    let saved = runtime.definitions().save(tenant, definition.unwrap());
    saved.await.unwrap();
    runtime.definitions().publish(tenant, "flow").await.unwrap();
}

/// Starts an instance; answers its id and its open bookmark.
async fn start(account: &Account) -> (String, String) {
    let request = StartRequest::new(DefinitionHandle::published("flow"));
    let started = account
        .runtime()
        .instances()
        .start(account.tenant(), request)
        .await;
    let StartOutcome::Started(report) = started.unwrap() else {
        panic!("not started");
    };
    let bookmark = report.instance.bookmarks.first().unwrap();
    (report.instance.id.to_string(), bookmark.id.to_string())
}
