//! Activities whose types are data: their handlers' answers, and nodes that die at every call to the table.

use dormouse_engine::definition::Definition;
use dormouse_engine::instance::SubStatus;
use dormouse_runtime::{
    DefinitionHandle, PollRequest, Polled, ResumeOutcome, StartOutcome, StartRequest, TypePublished,
};
use serde_json::{Value, json};

use crate::crashes::{at_every_call, at_every_call_within, written};
use crate::flow::write;
use crate::world::{Node, World, settle, wait_ms};

pub(crate) async fn publish_type(world: &World, handler: Value, more: Value) {
    let mut ty = json!({
        "type": "Acme.Work", "outputs": [{ "name": "receipt", "type": "String" }], "handler": handler,
        "timeoutMs": 20_000,
    });
    let more = more.as_object().unwrap().clone();
    ty.as_object_mut().unwrap().extend(more);
    let node = world.node();
    let published = node.definitions().types().publish(&world.tenant, &ty).await;
    assert!(matches!(published.unwrap(), TypePublished::Done { .. }));
    let flow = json!({
        "definitionId": "flow", "name": "flow", "options": { "commitStrategyName": null },
        "root": { "id": "all", "type": "Elsa.Sequence", "activities": [{ "id": "work", "type": "Acme.Work" }, write("a")] },
    });
    node.publish(Definition::from_value(flow).unwrap()).await;
}

pub(crate) fn worker() -> Value {
    json!({ "kind": "worker", "queue": "q" })
}

fn http() -> Value {
    json!({ "kind": "http", "url": "https://work.example/do" })
}

async fn poll(world: &World, node: &Node) -> Vec<Value> {
    let request = PollRequest {
        queue: "q".into(),
        types: vec!["Acme.Work".into()],
        max: 10,
        wait_ms: 0,
        worker: "w".into(),
    };
    match node.tasks().poll(&world.tenant, &request).await.unwrap() {
        Polled::Tasks(tasks) => tasks,
        Polled::TooMany { limit } => panic!("{limit}"),
    }
}

async fn complete(world: &World, node: &Node, task: &Value) -> ResumeOutcome {
    let id = task["taskId"].as_str().unwrap();
    let answer = json!({ "outputs": { "receipt": "r" } });
    let told = node.tasks().answer(&world.tenant, id, answer).await;
    told.unwrap()
}

/// The sub-status and the first incident of an instance of the flow.
async fn ran(world: &World) -> (SubStatus, String) {
    let node = world.node();
    let id = node.started("flow").await.instance.id;
    for _ in 0..5 {
        wait_ms(30_000).await;
        node.fire_due().await;
    }
    let found = node.query().instance(&world.tenant, id.as_str()).await;
    let instance = found.unwrap().unwrap().instance;
    let incident = instance.incidents.first().map(|incident| {
        let kind = incident.exception.as_ref().unwrap().kind.clone();
        format!("{kind}: {}", incident.message)
    });
    (instance.sub_status, incident.unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_task_is_taken_and_answered_once_wherever_it_is_cut_off() {
    at_every_call(
        async |world: &World| {
            publish_type(world, worker(), json!({ "heartbeatMs": 5_000 })).await;
            let id = world.node().started("flow").await.instance.id.to_string();
            settle().await;
            id
        },
        |node, _| async move {
            let world_tenant = dormouse_runtime::Tenant::default();
            let request = PollRequest {
                queue: "q".into(),
                types: vec!["Acme.Work".into()],
                max: 1,
                wait_ms: 0,
                worker: "w".into(),
            };
            if let Ok(Polled::Tasks(tasks)) = node.tasks().poll(&world_tenant, &request).await {
                for task in tasks {
                    let id = task["taskId"].as_str().unwrap();
                    let answer = json!({ "outputs": { "receipt": "r" } });
                    // One that dies here has no answer.
                    let _ = node.tasks().answer(&world_tenant, id, answer).await;
                }
            }
        },
        |world, node, id| async move {
            for task in poll(&world, &node).await {
                complete(&world, &node, &task).await;
            }
            settle().await;
            assert_eq!(node.sub_status(&id).await, "Finished");
            assert_eq!(written(&node, &world, &id).await, ["a"]);
            assert_eq!(poll(&world, &node).await, Vec::<Value>::new());
            assert_eq!(world.rows("TASKS#"), Vec::<String>::new());
            assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_asked_under_one_key_wherever_it_is_cut_off() {
    let request = || StartRequest {
        idempotency_key: Some("k".into()),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    };
    at_every_call_within(
        200,
        async |world: &World| {
            let retry = json!({ "retry": { "maxAttempts": 9, "intervalMs": 10 } });
            publish_type(world, http(), retry).await;
            String::new()
        },
        |node, _| async move {
            node.begin(request()).await;
            // The handler is asked beside the start.
            wait_ms(100).await;
        },
        |world, node, _| async move {
            let id = match node.begin(request()).await {
                StartOutcome::Started(report) => report.instance.id.to_string(),
                StartOutcome::AlreadyStarted(head) => head.instance_id,
                other => panic!("{other:?}"),
            };
            for _ in 0..3 {
                wait_ms(30_000).await;
                node.fire_due().await;
                node.sweep_later().await;
            }
            assert_eq!(node.sub_status(&id).await, "Finished");
            assert_eq!(written(&node, &world, &id).await, ["a"]);
            assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
            let requests = world.web.requests.lock().unwrap().clone();
            let mut keys: Vec<_> = requests.iter().map(|r| &r.idempotency_key).collect();
            keys.dedup();
            assert_eq!(keys.len(), 1, "{keys:?}");
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_told_all_and_its_request_is_signed() {
    let world = World::new();
    publish_type(&world, http(), json!({})).await;
    world
        .web
        .answers
        .lock()
        .unwrap()
        .push_back((200, br#"{"outputs": {"receipt": "r"}}"#.to_vec()));
    assert_eq!(ran(&world).await, (SubStatus::Finished, String::new()));
    let requests = world.web.requests.lock().unwrap().clone();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    let header = |name: &str| {
        let found = request.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let body = request.body.clone().unwrap();
    let told: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(told["taskId"], json!(header("webhook-id")));
    assert_eq!(told["idempotencyKey"], json!(request.idempotency_key));
    let (id, at, mark) = (
        header("webhook-id"),
        header("webhook-timestamp"),
        header("webhook-signature"),
    );
    let signed = dormouse_identity::webhook::Signed {
        id: &id,
        timestamp: &at,
        signatures: &mark,
    };
    let secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned()];
    let verified = dormouse_identity::webhook::verify(&secrets, signed, at.parse().unwrap(), &body);
    assert_eq!(verified, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_may_answer_and_what_becomes_of_it() {
    let error = br#"{"error": {"type": "Declined", "message": "no money", "retryable": false}}"#;
    for (answers, incident) in [
        (vec![(204, Vec::new())], ""),
        (vec![(503, Vec::new()), (200, b"{}".to_vec())], ""),
        (
            vec![(503, Vec::new()), (503, Vec::new())],
            "HandlerFailed: the handler answered with the status 503",
        ),
        (
            vec![(404, Vec::new())],
            "HandlerFailed: the handler answered with the status 404",
        ),
        (vec![(0, Vec::new()), (200, b"{}".to_vec())], ""),
        (
            vec![(0, Vec::new()); 2],
            "HandlerUnreachable: nobody is there",
        ),
        (vec![(200, error.to_vec())], "Declined: no money"),
        (
            vec![(200, b"<html>".to_vec()); 2],
            "InvalidAnswer: the answer is no JSON",
        ),
        (
            vec![(200, br#"{"outputs": {"receipt": 7}}"#.to_vec()); 2],
            "InvalidAnswer: the output `receipt` is a String",
        ),
        (
            vec![(200, vec![b' '; 7_000_000]); 2],
            "AnswerTooLarge: the answer has more than 4194304 bytes",
        ),
        // Later, and then nothing.
        (
            vec![(202, Vec::new()); 2],
            "Timeout: there was no answer within 20000 ms",
        ),
    ] {
        let world = World::new();
        let retry = json!({ "retry": { "maxAttempts": 2, "intervalMs": 1_000 } });
        publish_type(&world, http(), retry).await;
        let count = answers.len();
        world.web.answers.lock().unwrap().extend(answers);
        let (sub_status, told) = ran(&world).await;
        assert!(told.starts_with(incident), "{told} is not {incident}");
        let expected = match incident {
            "" => SubStatus::Finished,
            _ => SubStatus::Faulted,
        };
        assert_eq!(sub_status, expected, "{told}");
        assert_eq!(world.web.requests.lock().unwrap().len(), count, "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_answer_later_and_once() {
    let world = World::new();
    publish_type(&world, http(), json!({})).await;
    world
        .web
        .answers
        .lock()
        .unwrap()
        .push_back((202, Vec::new()));
    let node = world.node();
    let id = node.started("flow").await.instance.id.to_string();
    wait_ms(200).await;
    let request = world.web.requests.lock().unwrap()[0].body.clone().unwrap();
    let task: Value = serde_json::from_slice(&request).unwrap();
    node.sweep_later().await;
    assert_eq!(
        world.web.requests.lock().unwrap().len(),
        1,
        "it is not asked again"
    );
    // The attempt has 20 s, and a minute has passed; its timer has not fired, so the answer counts.
    assert!(matches!(
        complete(&world, &node, &task).await,
        ResumeOutcome::Resumed(_)
    ));
    assert!(matches!(
        complete(&world, &node, &task).await,
        ResumeOutcome::Ended(_)
    ));
    assert_eq!(node.sub_status(&id).await, "Finished");
}

#[tokio::test(start_paused = true)]
async fn of_many_who_ask_at_once_one_has_a_task() {
    let world = World::new();
    publish_type(&world, worker(), json!({})).await;
    let nodes: Vec<Node> = (0..4).map(|_| world.node()).collect();
    nodes[0].started("flow").await;
    settle().await;
    let asked = nodes.iter().map(|node| poll(&world, node));
    let taken: Vec<Value> = futures_util::future::join_all(asked)
        .await
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(taken.len(), 1, "{taken:?}");
}

#[tokio::test(start_paused = true)]
async fn a_type_that_comes_later_is_found_by_what_missed_it() {
    let world = World::new();
    let node = world.node();
    let flow = json!({ "definitionId": "flow", "name": "flow", "root": { "id": "work", "type": "Acme.Work" } });
    node.publish(Definition::from_value(flow).unwrap()).await;
    let first = node.started("flow").await;
    assert_eq!(first.instance.sub_status, SubStatus::Faulted);
    let ty = json!({ "type": "Acme.Work", "handler": { "kind": "javascript", "source": "export default () => ({})" } });
    let published = node.definitions().types().publish(&world.tenant, &ty).await;
    assert!(matches!(published.unwrap(), TypePublished::Done { .. }));
    let second = node.started("flow").await;
    assert_eq!(second.instance.sub_status, SubStatus::Finished);
}
