//! Workflows that start themselves over and over: others have their turn, memory stays within its bound, and retracting the
//! definition ends it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::scripts::execute;
use crate::site::{MEMORY_BYTES_MAX, exchange, get, post, publish, request, server};

/// For how long it multiplies.
const WHILE: Duration = Duration::from_secs(8);

/// How long others may wait for anything meanwhile.
const PATIENCE: Duration = Duration::from_secs(4);

/// A definition that dispatches itself three times.
fn multiplying() -> Value {
    let dispatch = |n: u32| {
        json!({
            "type": "Elsa.DispatchWorkflow", "id": format!("again-{n}"),
            "workflowDefinitionId": { "typeName": "String", "expression": { "type": "Literal", "value": "multiplying" } },
        })
    };
    let all = json!({ "type": "Elsa.Sequence", "id": "all", "activities": [dispatch(1), dispatch(2), dispatch(3)] });
    json!({ "definitionId": "multiplying", "root": all })
}

fn count(port: u16, key: &str, of: &str) -> u64 {
    let path = format!("/workflow-instances?{of}&pageSize=1");
    get(port, key, &path)["totalCount"].as_u64().unwrap()
}

#[test]
fn a_workflow_that_multiplies_leaves_others_their_turn_and_ends_when_it_is_retracted() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, key) = server(folder.path());
    let port = server.port;
    publish(port, &key, &multiplying());
    let line = json!({ "type": "Elsa.WriteLine", "id": "line", "text": "hello" });
    let child = json!({ "definitionId": "child", "root": line });
    publish(port, &key, &child);
    let start = json!({
        "type": "Elsa.DispatchWorkflow", "id": "start",
        "workflowDefinitionId": { "typeName": "String", "expression": { "type": "Literal", "value": "child" } },
        "waitForCompletion": { "typeName": "Boolean", "expression": { "type": "Literal", "value": true } },
    });
    publish(
        port,
        &key,
        &json!({ "definitionId": "parent", "root": start }),
    );
    assert_eq!(
        exchange(port, &execute("multiplying", &key)).unwrap().0,
        200
    );
    let (began, mut parents, mut slowest) = (Instant::now(), 0, Duration::ZERO);
    let live = request("GET", "/health/live", "", b"");
    while began.elapsed() < WHILE {
        let asked = Instant::now();
        assert_eq!(exchange(port, &live).unwrap().0, 200);
        assert_eq!(exchange(port, &execute("parent", &key)).unwrap().0, 200);
        parents += 1;
        // Its child has its turn, too.
        let ended = "definitionId=parent&subStatus=Finished";
        while count(port, &key, ended) < parents {
            assert!(asked.elapsed() < PATIENCE, "others have no turn");
            std::thread::sleep(Duration::from_millis(20));
        }
        slowest = slowest.max(asked.elapsed());
        let memory = server.memory_bytes();
        assert!(memory < MEMORY_BYTES_MAX, "{} MB", memory >> 20);
    }
    post(
        port,
        &key,
        "/workflow-definitions/multiplying/retract",
        &json!({}),
    );
    let of = "definitionId=multiplying";
    let (mut before, retracted) = (0, Instant::now());
    loop {
        let now = count(port, &key, of);
        if now == before {
            break;
        }
        assert!(retracted.elapsed() < PATIENCE, "it goes on: {now}");
        before = now;
        std::thread::sleep(Duration::from_millis(500));
    }
    println!("{before} of it, {parents} parents, {slowest:?} at most");
    assert!(before > 100, "it did not multiply");
    let stopped = Instant::now();
    assert!(server.stop().success());
    assert!(stopped.elapsed() < Duration::from_secs(10));
}
