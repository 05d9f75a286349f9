//! Tasks of activities whose type is data: from poll to answer, and whatever else comes in between.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::activity_types::{CHARGE, charge, delete, put, uses_charge};
use crate::server::{Server, literal, sequence};

async fn start(server: &Server, id: &str) -> String {
    let body = json!({ "definitionId": id });
    let started = server.post("/workflow-starts", &body).await.ok(201);
    started["id"].as_str().unwrap().to_owned()
}

async fn poll(server: &Server, max: u64) -> Vec<Value> {
    let body = json!({ "queue": "pay", "types": ["Acme.Charge"], "max": max, "waitMs": 2_000, "workerId": "w1" });
    let answer = server.post("/tasks/poll", &body).await.ok(200);
    answer["tasks"].as_array().unwrap().clone()
}

async fn one_task(server: &Server) -> Value {
    let mut tasks = poll(server, 1).await;
    assert_eq!(tasks.len(), 1, "{tasks:?}");
    tasks.remove(0)
}

fn path_of(task: &Value, verb: &str) -> String {
    format!("/tasks/{}/{verb}", task["taskId"].as_str().unwrap())
}

async fn shown(server: &Server, instance: &str) -> Value {
    let path = format!("/workflow-instances/{instance}");
    server.get(&path).await.ok(200)
}

/// Until the instance stands so.
async fn until(server: &Server, instance: &str, sub_status: &str) -> Value {
    for _ in 0..200 {
        let instance = shown(server, instance).await;
        if instance["subStatus"] == sub_status {
            return instance;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{:#}", shown(server, instance).await);
}

#[tokio::test]
async fn a_worker_takes_a_task_and_its_answer_goes_on() {
    let server = Server::new();
    put(&server, CHARGE, &charge(json!({}))).await.ok(201);
    server.publish(uses_charge("w", json!({}))).await;
    // What is pinned stays, whatever becomes of the type.
    put(&server, CHARGE, &charge(json!({ "outputs": [] })))
        .await
        .ok(201);
    delete(&server, CHARGE).await.ok(204);
    let instance = start(&server, "w").await;
    let task = one_task(&server).await;
    assert_eq!(
        (&task["type"], &task["version"], &task["attempt"]),
        (&json!("Acme.Charge"), &json!(1), &json!(1))
    );
    assert_eq!(task["input"], json!({ "amount": 3, "card": "4242" }));
    assert_eq!(task["workflow"]["instanceId"], json!(instance));
    assert_eq!(task["workflow"]["tenantId"], "default");
    assert!(task["deadline"].is_string() && task["idempotencyKey"].is_string());
    let none = json!({ "queue": "pay", "types": ["Acme.Charge"], "workerId": "w2" });
    assert_eq!(
        server.post("/tasks/poll", &none).await.ok(200)["tasks"],
        json!([])
    );
    server
        .post(
            &path_of(&task, "heartbeat"),
            &json!({ "details": { "page": 1 } }),
        )
        .await
        .ok(200);
    let answer = json!({ "outputs": { "receipt": "r-1" }, "outcome": "Declined" });
    let done = server
        .post(&path_of(&task, "complete"), &answer)
        .await
        .ok(200);
    assert_eq!(done["subStatus"], "Finished");
    server
        .post(&path_of(&task, "complete"), &answer)
        .await
        .problem(409, "instanceEnded");
    server
        .post(&path_of(&task, "fail"), &json!({ "error": {} }))
        .await
        .problem(409, "instanceEnded");
    server
        .post(&path_of(&task, "heartbeat"), &json!({}))
        .await
        .problem(409, "instanceEnded");
    let records = server
        .get(&format!(
            "/activity-executions/list?workflowInstanceId={instance}"
        ))
        .await
        .ok(200);
    let told = records.to_string();
    assert!(told.contains("r-1") && told.contains("Declined"), "{told}");
    assert!(!told.contains("4242"), "a sensitive input is told: {told}");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_or_fails_is_an_incident_with_its_name() {
    let server = Server::new();
    put(&server, CHARGE, &charge(json!({}))).await.ok(201);
    server.publish(uses_charge("w", json!({}))).await;
    for (verb, body, kind) in [
        (
            "complete",
            json!({ "outputs": { "receipt": 7 } }),
            "InvalidAnswer",
        ),
        ("complete", json!({ "outcome": "Maybe" }), "InvalidAnswer"),
        ("complete", json!({ "result": 3 }), "InvalidAnswer"),
        (
            "fail",
            json!({ "error": { "type": "Broke", "message": "no money" } }),
            "Broke",
        ),
    ] {
        let instance = start(&server, "w").await;
        let task = one_task(&server).await;
        server.post(&path_of(&task, verb), &body).await.ok(200);
        let told = until(&server, &instance, "Faulted").await.to_string();
        assert!(told.contains(kind), "{kind}: {told}");
    }
    let huge = json!({ "outputs": { "receipt": "x".repeat(7_000_000) } });
    let instance = start(&server, "w").await;
    let task = one_task(&server).await;
    server
        .post(&path_of(&task, "complete"), &huge)
        .await
        .problem(413, "bodyTooLarge");
    assert_eq!(shown(&server, &instance).await["subStatus"], "Suspended");
}

#[tokio::test]
async fn a_task_of_a_worker_that_died_is_another_ones_and_the_first_is_told() {
    let server = Server::new();
    put(&server, CHARGE, &charge(json!({ "heartbeatMs": 300 })))
        .await
        .ok(201);
    server.publish(uses_charge("w", json!({}))).await;
    let instance = start(&server, "w").await;
    let first = one_task(&server).await;
    // The server's timer driver is not part of this test, so the timer is fired by its bookmark.
    tokio::time::sleep(Duration::from_millis(350)).await;
    let waiting = shown(&server, &instance).await;
    let bookmarks = waiting["workflowState"]["bookmarks"]
        .as_array()
        .unwrap()
        .clone();
    let beat = bookmarks
        .iter()
        .find(|b| b.to_string().contains("heartbeat"))
        .unwrap();
    let body = json!({ "bookmarkId": beat["id"] });
    server
        .post(&format!("/workflow-instances/{instance}/resume"), &body)
        .await
        .ok(200);
    let second = one_task(&server).await;
    assert_ne!(first["taskId"], second["taskId"]);
    assert_eq!(first["idempotencyKey"], second["idempotencyKey"]);
    let answer = json!({ "outcome": "Done" });
    server
        .post(&path_of(&first, "complete"), &answer)
        .await
        .problem(409, "bookmarkGone");
    server
        .post(&path_of(&first, "heartbeat"), &answer)
        .await
        .problem(409, "bookmarkGone");
    server
        .post(&path_of(&second, "complete"), &answer)
        .await
        .ok(200);
}

#[tokio::test]
async fn a_cancelled_instance_takes_its_tasks_with_it() {
    let server = Server::new();
    put(&server, CHARGE, &charge(json!({}))).await.ok(201);
    server.publish(uses_charge("w", json!({}))).await;
    let (taken, waiting) = (start(&server, "w").await, start(&server, "w").await);
    let task = one_task(&server).await;
    for id in [taken, waiting] {
        server
            .post(&format!("/cancel/workflow-instances/{id}"), &json!({}))
            .await;
    }
    let body = json!({ "queue": "pay", "types": ["Acme.Charge"], "max": 10, "workerId": "w" });
    assert_eq!(
        server.post("/tasks/poll", &body).await.ok(200)["tasks"],
        json!([])
    );
    server
        .post(&path_of(&task, "complete"), &json!({}))
        .await
        .problem(409, "instanceEnded");
}

#[tokio::test]
async fn many_workers_take_each_task_once() {
    let server = Arc::new(Server::new());
    put(&server, CHARGE, &charge(json!({}))).await.ok(201);
    server.publish(uses_charge("w", json!({}))).await;
    for _ in 0..40 {
        start(&server, "w").await;
    }
    let workers = (0..8).map(|_| {
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let mut mine = Vec::new();
            loop {
                let body = json!({ "queue": "pay", "types": ["Acme.Charge"], "max": 3, "waitMs": 300, "workerId": "w" });
                let answer = server.post("/tasks/poll", &body).await.ok(200);
                let tasks = answer["tasks"].as_array().unwrap().clone();
                if tasks.is_empty() {
                    return mine;
                }
                for task in tasks {
                    server.post(&path_of(&task, "complete"), &json!({ "outcome": "Done" })).await.ok(200);
                    mine.push(task["taskId"].as_str().unwrap().to_owned());
                }
            }
        })
    });
    let mut done = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        done.extend(worker.await.unwrap());
    }
    assert_eq!(done.len(), 40, "each is answered once");
    done.sort();
    done.dedup();
    assert_eq!(done.len(), 40);
}

#[tokio::test]
async fn what_a_worker_may_ask_for_is_bounded() {
    let server = Server::new();
    let fine = json!({ "queue": "pay", "types": ["Acme.Charge"], "workerId": "w" });
    server.post("/tasks/poll", &fine).await.ok(200);
    for (name, value) in [
        ("queue", json!("a queue")),
        ("queue", json!("")),
        ("types", json!([])),
        ("types", json!(["Charge"])),
        (
            "types",
            json!((0..51).map(|n| format!("A.B{n}")).collect::<Vec<_>>()),
        ),
        ("max", json!(0)),
        ("max", json!(51)),
        ("max", json!(-1)),
        ("waitMs", json!(20_001)),
        ("workerId", json!("")),
        ("workerId", json!("x".repeat(201))),
    ] {
        let mut body = fine.clone();
        body[name] = value;
        server
            .post("/tasks/poll", &body)
            .await
            .problem(400, "wrongShape");
    }
    server
        .post("/tasks/none/fail", &json!({}))
        .await
        .problem(404, "noSuchTask");
    server
        .post("/tasks/none/heartbeat", &json!({}))
        .await
        .problem(404, "noSuchTask");
}

#[tokio::test]
async fn a_task_of_run_task_can_fail_and_has_no_heartbeat() {
    let server = Server::new();
    let run = json!({ "id": "t", "type": "Elsa.RunTask", "taskName": literal("String", &json!("Review")) });
    server.publish(sequence("w", json!([run]))).await;
    let body = json!({ "definitionId": "w" });
    let started = server.post("/workflow-starts", &body).await.ok(201);
    let id = started["id"].as_str().unwrap();
    let task = format!(
        "/tasks/{id}{}",
        started["bookmarks"][0]["id"].as_str().unwrap()
    );
    server
        .post(&format!("{task}/heartbeat"), &json!({}))
        .await
        .problem(409, "noHeartbeat");
    let broken = json!({ "error": { "type": "Broken", "message": "no paper" } });
    let failed = server.post(&format!("{task}/fail"), &broken).await.ok(200);
    assert_eq!(failed["subStatus"], "Faulted");
}

#[tokio::test]
async fn a_script_needs_nobody() {
    let server = Server::new();
    let script = json!({ "handler": { "kind": "javascript", "source": "export default ({input}) => ({ outputs: { receipt: `r-${input.amount}` }, outcome: 'Declined' })" } });
    put(&server, CHARGE, &charge(script)).await.ok(201);
    server.publish(uses_charge("w", json!({}))).await;
    let body = json!({ "definitionId": "w" });
    let started = server.post("/workflow-starts", &body).await.ok(201);
    assert_eq!(started["subStatus"], "Finished", "{started}");
    let id = started["id"].as_str().unwrap();
    let records = server
        .get(&format!(
            "/activity-executions/list?workflowInstanceId={id}"
        ))
        .await
        .ok(200);
    assert!(records.to_string().contains("r-3"), "{records}");
}
