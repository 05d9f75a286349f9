//! Scripts that do not end: they hold up nobody, and end when somebody wants their end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::site::{exchange, get, post, publish, request, server};

/// A definition whose only activity is a script that never ends.
pub(crate) fn endless() -> Value {
    let script = json!({ "typeName": "Object", "expression": { "type": "JavaScript", "value": "for (;;) {}" } });
    let activity = json!({ "type": "Elsa.WriteLine", "id": "bomb", "text": script });
    json!({ "definitionId": "bomb", "root": { "type": "Elsa.Sequence", "id": "all", "activities": [activity] } })
}

/// A definition of many scripts, none of which reaches a limit alone.
pub(crate) fn busy() -> Value {
    let script = "for (let turn = 0; turn < 5_000_000; turn++) {} true";
    let condition =
        json!({ "typeName": "Boolean", "expression": { "type": "JavaScript", "value": script } });
    let line = json!({ "type": "Elsa.WriteLine", "id": "line" });
    json!({ "definitionId": "busy", "root": { "type": "Elsa.While", "id": "ever", "condition": condition, "body": line } })
}

/// A request that runs a published definition to its end.
pub(crate) fn execute(definition: &str, key: &str) -> Vec<u8> {
    let path = format!("/elsa/api/workflow-definitions/{definition}/execute");
    request("POST", &path, key, b"{}")
}

#[test]
fn scripts_that_never_end_hold_up_nobody_and_end_with_a_pause() {
    let folder = tempfile::tempdir().unwrap();
    let (server, key) = server(folder.path());
    let port = server.port;
    let line = json!({ "type": "Elsa.WriteLine", "id": "line", "text": { "typeName": "String", "expression": { "type": "Literal", "value": "hello" } } });
    let script =
        json!({ "typeName": "Object", "expression": { "type": "JavaScript", "value": "1 + 1" } });
    let short = json!({ "type": "Elsa.WriteLine", "id": "short", "text": script });
    publish(port, &key, &busy());
    publish(
        port,
        &key,
        &json!({ "definitionId": "plain", "root": line }),
    );
    publish(
        port,
        &key,
        &json!({ "definitionId": "short", "root": short }),
    );
    let bombs_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let bombs: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let answer = exchange(port, &execute("busy", &key)).unwrap();
                    bombs_ended.store(true, Ordering::Relaxed);
                    answer
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(500));
        let began = Instant::now();
        let live = request("GET", "/health/live", "", b"");
        for _ in 0..5 {
            assert_eq!(exchange(port, &live).unwrap().0, 200);
            assert_eq!(exchange(port, &execute("plain", &key)).unwrap().0, 200);
            assert_eq!(exchange(port, &execute("short", &key)).unwrap().0, 200);
        }
        println!("others were answered after {:?}", began.elapsed());
        assert!(!bombs_ended.load(Ordering::Relaxed), "others had to wait");
        let paused = Instant::now();
        let pause = "/elsa/api/admin/workflow-runtime/pause";
        assert_eq!(
            exchange(port, &request("POST", pause, &key, b"{}"))
                .unwrap()
                .0,
            200
        );
        for bomb in bombs {
            let (status, body) = bomb.join().unwrap();
            assert_eq!(status, 503, "{}", String::from_utf8_lossy(&body));
        }
        // A step may take ten seconds.
        assert!(
            paused.elapsed() < Duration::from_secs(4),
            "{:?}",
            paused.elapsed()
        );
    });
}

/// Dispatches so many instances. Their ids.
fn dispatch(port: u16, key: &str, definition: &str, count: usize) -> Vec<String> {
    let path = format!("/workflow-definitions/{definition}/dispatch");
    (0..count)
        .map(|_| {
            let answer = post(port, key, &path, &json!({}));
            answer["workflowInstanceId"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// Status of an instance; empty if it has not begun.
fn sub_status(port: u16, key: &str, id: &str) -> String {
    let path = format!("/elsa/api/workflow-instances/{id}/execution-state");
    let (status, answer) = exchange(port, &request("GET", &path, key, b"")).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    let told = answer.split("\"subStatus\":\"").nth(1);
    match (status, told) {
        (404, _) => String::new(),
        (_, Some(told)) => told.split('"').next().unwrap_or_default().to_owned(),
        (_, None) => panic!("{answer}"),
    }
}

/// Waits until an instance stands as wanted.
#[track_caller]
fn await_status(port: u16, key: &str, id: &str, wanted: &str) {
    let began = Instant::now();
    loop {
        let status = sub_status(port, key, id);
        if status == wanted {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{id}: {status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The same after an event.
fn busy_later() -> Value {
    let name = json!({ "typeName": "String", "expression": { "type": "Literal", "value": "Go" } });
    let event = json!({ "type": "Elsa.Event", "id": "go", "eventName": name });
    let busy = busy()["root"].take();
    json!({ "definitionId": "busy", "root": { "type": "Elsa.Sequence", "id": "all", "activities": [event, busy] } })
}

/// Instances whose scripts run and never end.
fn running(port: u16, key: &str, count: usize) -> Vec<String> {
    publish(port, key, &busy_later());
    let ids = dispatch(port, key, "busy", count);
    for id in &ids {
        await_status(port, key, id, "Suspended");
    }
    post(
        port,
        key,
        "/events/Go/trigger",
        &json!({ "workflowExecutionMode": "Asynchronous" }),
    );
    std::thread::sleep(Duration::from_millis(1_500));
    ids
}

/// The aim is two seconds; the machine that tests may be busy.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn instances_are_cancelled_while_scripts_run_that_never_end() {
    let folder = tempfile::tempdir().unwrap();
    let (server, key) = server(folder.path());
    let port = server.port;
    let ids = running(port, &key, 8);
    for id in &ids {
        let began = Instant::now();
        let cancel = format!("/cancel/workflow-instances/{id}");
        post(port, &key, &cancel, &json!({}));
        let took = began.elapsed();
        println!("cancelled after {took:?}");
        assert!(took < SOON, "{took:?}");
        assert_eq!(sub_status(port, &key, id), "Cancelled");
    }
}

#[test]
fn the_server_stops_and_starts_while_scripts_run_that_never_end() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, key) = server(folder.path());
    let port = server.port;
    publish(port, &key, &endless());
    let ids = running(port, &key, 8);
    let bomb = dispatch(port, &key, "bomb", 1).remove(0);
    std::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    assert!(server.stop().success());
    let took = began.elapsed();
    println!("stopped after {took:?}");
    assert!(took < SOON, "{took:?}");

    // They go on after the next start, and hold up nobody; a script that reaches its limit is an incident, and stays one.
    server.start_again();
    await_status(port, &key, &bomb, "Faulted");
    for id in &ids {
        let cancel = format!("/cancel/workflow-instances/{id}");
        post(port, &key, &cancel, &json!({}));
        assert_eq!(sub_status(port, &key, id), "Cancelled");
    }
    server.kill();
    server.start_again();
    let journal = format!("/workflow-instances/{bomb}/journal");
    let lines = |journal: Value| journal["totalCount"].as_u64().unwrap();
    let before = lines(get(port, &key, &journal));
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(lines(get(port, &key, &journal)), before);
    assert_eq!(sub_status(port, &key, &bomb), "Faulted");
}
