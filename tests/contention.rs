//! Many at once over three nodes: exactly one carries on, everybody gets a clear answer.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails with a sentence"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use dormouse_tests::api::{complete_task, journal, look, publish, seen, start};
use dormouse_tests::flow::flow;
use dormouse_tests::http_client::{Client, Response};
use dormouse_tests::primitives::task;
use dormouse_tests::server::Server;
use dormouse_tests::{activity, workflow};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_dormouse");
const AT_ONCE: usize = 50;

fn server(folder: &tempfile::TempDir) -> Server {
    Server::start(Path::new(BINARY), &folder.path().join("data"), 3)
}

/// Sends the same request fifty times at the same moment, spread over the nodes.
fn all_at_once(server: &Server, request: impl Fn(&mut Client) -> Response + Sync) -> Vec<Response> {
    let barrier = Barrier::new(AT_ONCE);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE)
            .map(|number| {
                let (barrier, request) = (&barrier, &request);
                let mut client = server.client(u16::try_from(number).unwrap());
                scope.spawn(move || {
                    barrier.wait();
                    request(&mut client)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

fn count(lines: &[Value], activity: &str, event: &str) -> usize {
    lines
        .iter()
        .filter(|l| l["activityId"] == activity && l["eventName"] == event)
        .count()
}

fn no_error_in(log: &str) {
    for word in ["ERROR", "panicked"] {
        assert!(!log.contains(word), "{log}");
    }
}

#[test]
fn fifty_resumes_of_one_bookmark_carry_it_on_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let mut client = server.client(0);
    let root = flow(
        "a0 > a1 > a2",
        [task("work").id("a0"), task("more").id("a2")],
    );
    publish(&mut client, workflow("one", root).json());
    for round in 0..5 {
        let state = seen(
            &start(&mut client, "one", &format!("k{round}"))
                .unwrap()
                .json()["workflowState"],
        );
        let task = format!("{}.{}", state.id, state.bookmarks[0]);
        let answers = all_at_once(&server, |client| complete_task(client, &task).unwrap());
        // A task that is done already is no error, as in Elsa: whoever repeats is told that all is well.
        assert!(
            answers.iter().all(|a| a.is_success() || a.status == 409),
            "{answers:?}"
        );
        let lines = journal(&mut client, &state.id).unwrap();
        assert_eq!(count(&lines, "a0", "Resumed"), 1);
        assert_eq!(count(&lines, "a1", "Completed"), 1);
        assert_eq!(count(&lines, "a2", "Started"), 1);
    }
    no_error_in(&server.log());
}

#[test]
fn fifty_starts_under_one_key_make_one_instance() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    publish(
        &mut server.client(0),
        workflow("once", flow("a0 > a1", [task("work").id("a1")])).json(),
    );
    let answers = all_at_once(&server, |client| start(client, "once", "the-key").unwrap());
    let ids: BTreeSet<String> = answers
        .iter()
        .filter(|a| a.is_success())
        .map(|a| seen(&a.json()["workflowState"]).id)
        .collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert!(
        answers.iter().all(|a| a.is_success() || a.status == 409),
        "{answers:?}"
    );
    let lines = journal(&mut server.client(0), ids.first().unwrap()).unwrap();
    assert_eq!(count(&lines, "a0", "Completed"), 1);
    no_error_in(&server.log());
}

#[test]
fn a_singleton_runs_once_however_many_start_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let strategy = "Elsa.Workflows.ActivationValidators.SingletonStrategy, Elsa.Workflows.Core";
    let definition = workflow("single", task("work")).option("activationStrategyType", strategy);
    publish(&mut server.client(0), definition.json());
    let answers = all_at_once(&server, |client| {
        client
            .post("/elsa/api/workflow-definitions/single/execute", &json!({}))
            .unwrap()
    });
    assert!(answers.iter().all(Response::is_success), "{answers:?}");
    let ids: BTreeSet<String> = answers
        .iter()
        .map(|a| seen(&a.json()["workflowState"]).id)
        .filter(|id| !id.is_empty())
        .collect();
    assert_eq!(
        ids.len(),
        1,
        "one starts, the others get an empty answer as in Elsa: {ids:?}"
    );
    no_error_in(&server.log());
}

#[test]
fn one_occurrence_of_a_schedule_starts_one_instance_on_three_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let cron = activity("Elsa.Cron")
        .input("cronExpression", "* * * * * *")
        .trigger()
        .id("cron");
    let mut client = server.client(0);
    publish(
        &mut client,
        workflow("each-second", flow("cron > tick", [cron])).json(),
    );
    let begin = Instant::now();
    let mut ids: Vec<String> = Vec::new();
    while ids.len() < 4 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(100));
        let list = client
            .get("/elsa/api/workflow-instances?definitionId=each-second&pageSize=100")
            .unwrap()
            .json();
        ids = list["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|i| i["id"].as_str().map(str::to_owned))
            .collect();
    }
    let mut seconds = BTreeSet::new();
    for id in &ids {
        assert!(look(&mut client, id).unwrap().is_some());
        let lines = journal(&mut client, id).unwrap();
        let at = lines
            .first()
            .and_then(|l| l["timestamp"].as_str())
            .unwrap()
            .to_owned();
        assert!(
            seconds.insert(at.get(..19).unwrap().to_owned()),
            "two in one second: {at}"
        );
    }
    assert!(ids.len() >= 4, "only {} occurrences in 20 s", ids.len());
    no_error_in(&server.log());
}
