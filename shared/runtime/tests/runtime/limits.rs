//! What is too large, cannot be delivered or never ends: a clear incident or a dead letter, never an endless loop.

use dormouse_runtime::AlterOutcome;
use dormouse_runtime::message::{Message, Task};
use dormouse_runtime::{DefinitionHandle, Replay, StartOutcome, StartRequest};
use serde_json::{Map, json};

use crate::flow::{event, sequence, write};
use crate::world::{Node, World, bookmark, settle, wait_ms};

#[tokio::test(start_paused = true)]
async fn a_state_that_cannot_be_stored_is_an_incident() {
    let world = World::new();
    let node = world.node();
    let mut kept = sequence("flow", &[event("go"), write("end")]);
    let json = {
        let mut raw = kept.raw().clone();
        raw.insert("inputs".into(), json!([{ "name": "Big", "type": "Object", "storageDriverType": "WorkflowInstanceStorageDriver" }]));
        raw
    };
    kept = dormouse_engine::definition::Definition::from_value(json.into()).unwrap();
    node.publish(kept).await;
    // Over the size of an item, and there is no store for large states here.
    let noise: Vec<u64> = (0..200_000).map(dormouse_engine::id::splitmix).collect();
    let request = StartRequest {
        input: Map::from_iter([("Big".to_owned(), json!(noise))]),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    };
    let StartOutcome::Started(report) = node.begin(request).await else {
        panic!("not started");
    };
    assert_eq!(report.instance.sub_status.as_str(), "Faulted");
    let incident = &report.instance.incidents[0];
    assert_eq!(incident.exception.as_ref().unwrap().kind, "LimitReached");
    assert_eq!(
        node.sub_status(report.instance.id.as_str()).await,
        "Faulted"
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_delivered_becomes_a_dead_letter_that_can_be_replayed() {
    let world = World::new();
    let node = world.node();
    let task = Task::Start {
        instance: "x".into(),
        definition: DefinitionHandle::published("flow"),
        start: dormouse_runtime::message::StartFacts::default(),
    };
    let message = Message::new("start/x", world.tenant.clone(), task);
    node.store()
        .outbox()
        .put(
            &world.tenant,
            "x",
            world.now(),
            &[message.effect().unwrap()],
        )
        .await
        .unwrap();
    node.sweep_later().await;
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    let letters = node
        .dead_letters()
        .list(&world.tenant, 10, None)
        .await
        .unwrap();
    assert_eq!(letters.letters.len(), 1);
    node.publish(sequence("flow", &[write("end")])).await;
    let id = letters.letters[0].id.clone();
    let replayed = node.dead_letters().replay(&world.tenant, &id, false).await;
    assert_eq!(replayed.unwrap(), Replay::Done);
    settle().await;
    assert_eq!(node.sub_status("x").await, "Finished");
}

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_read_is_buried() {
    let world = World::new();
    let node = world.node();
    let odd = dormouse_store::outbox::row::Effect {
        id: "odd".into(),
        body: bytes::Bytes::from_static(b"?"),
    };
    node.store()
        .outbox()
        .put(&world.tenant, "odd", world.now(), &[odd])
        .await
        .unwrap();
    assert_eq!(node.sweep_later().await.given_up, 1);
    assert_eq!(node.sweep_later().await, Default::default());
}

/// An instance that waits, with a row that says it is to go on, while somebody has its lease for an hour.
async fn kept_from_going_on(node: &Node, world: &World) -> String {
    node.publish(sequence("flow", &[event("go")])).await;
    let id = node.started("flow").await.instance.id.to_string();
    let task = Task::Continue {
        instance: id.as_str().into(),
        activities: 0,
        made_way: true,
    };
    let message = Message::new("x", world.tenant.clone(), task);
    let rows = [message.effect().unwrap()];
    let put = node
        .store()
        .outbox()
        .put(&world.tenant, &id, world.now(), &rows);
    put.await.unwrap();
    node.hold(&id, 3_600_000).await;
    id
}

#[tokio::test(start_paused = true)]
async fn a_row_rests_while_others_hold_its_instance_and_is_not_given_up_on() {
    let world = World::new();
    let node = world.node_with(|config| config.wait_ms_max = 0);
    let id = kept_from_going_on(&node, &world).await;
    wait_ms(6_000).await;
    let (began, mut attempts) = (world.now(), Vec::new());
    while world.rows("OUTBOX").len() == 1 && attempts.len() < 50 {
        let report = node.operations().sweep().await.unwrap();
        if report.left + report.given_up > 0 {
            attempts.push((world.now() - began) / 1_000);
        }
        wait_ms(1_000).await;
    }
    // Waiting for others is no failed attempt: it is not given up on, however long they take.
    assert_eq!(attempts.len(), 50);
    let rests = attempts.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(
        rests.clone().all(|rest| (5..=7).contains(&rest)),
        "{attempts:?}"
    );
    let letters = node
        .dead_letters()
        .list(&world.tenant, 10, None)
        .await
        .unwrap();
    assert!(letters.letters.is_empty(), "{letters:?}");
    wait_ms(3_600_000).await;
    node.operations().sweep().await.unwrap();
    settle().await;
    assert_eq!(node.sub_status(&id).await, "Suspended");
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_burst_that_takes_long_makes_way_and_goes_on() {
    let world = World::new();
    let node = world.node_with(|config| {
        config.burst_ms_max = 0;
        config.limits.step_activities_max = 2;
    });
    let lines: Vec<_> = (0..20).map(|n| write(&n.to_string())).collect();
    node.publish(sequence("flow", &lines)).await;
    let started = node.started("flow").await;
    assert!(started.goes_on);
    settle().await;
    let id = started.instance.id.as_str();
    assert_eq!(node.sub_status(id).await, "Finished");
    let executions = node
        .query()
        .activity_executions(&world.tenant, id)
        .await
        .unwrap();
    let written = executions.unwrap().into_iter();
    assert_eq!(
        written
            .filter(|e| e.activity_type == "Elsa.WriteLine")
            .count(),
        20
    );
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_loop_without_end_is_an_incident() {
    let world = World::new();
    let node = world.node_with(|config| config.limits.burst_activities_max = 500);
    node.publish(sequence(
        "flow",
        &[json!({ "type": "Elsa.While", "condition": crate::flow::literal("Boolean", true), "body": write("again") })],
    ))
    .await;
    let started = node.started("flow").await;
    assert_eq!(started.instance.sub_status.as_str(), "Faulted");
    assert!(
        started.instance.incidents[0]
            .message
            .contains("burst_activities_max")
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_activity_can_be_tried_again() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence(
        "flow",
        &[
            event("go"),
            json!({ "type": "Elsa.Fault", "message": crate::flow::literal("String", "no") }),
        ],
    ))
    .await;
    let started = node.started("flow").await;
    let id = started.instance.id.to_string();
    node.wake(&id, &bookmark(&started)).await;
    assert_eq!(node.sub_status(&id).await, "Faulted");
    let retried = node
        .instances()
        .retry(&world.tenant, &id, Vec::new())
        .await
        .unwrap();
    let AlterOutcome::Altered(report) = retried else {
        panic!("{retried:?}");
    };
    // It fails again, once.
    assert_eq!(report.instance.incidents.len(), 1);
    assert_eq!(node.sub_status(&id).await, "Faulted");
    let finished = node.started("flow").await;
    node.instances()
        .cancel(&world.tenant, finished.instance.id.as_str())
        .await
        .unwrap();
    let refused = node
        .instances()
        .retry(&world.tenant, finished.instance.id.as_str(), Vec::new())
        .await
        .unwrap();
    assert!(matches!(refused, AlterOutcome::Ended(_)));
    let waiting = node.started("flow").await;
    let nothing = node
        .instances()
        .retry(&world.tenant, waiting.instance.id.as_str(), Vec::new())
        .await
        .unwrap();
    assert!(matches!(nothing, AlterOutcome::NotPossible(_)));
}

#[tokio::test(start_paused = true)]
async fn workflows_that_execute_each_other_without_end_are_an_incident_of_the_innermost() {
    let world = World::new();
    let node = world.node();
    let again = json!({
        "type": "Elsa.ExecuteWorkflow", "id": "again",
        "workflowDefinitionId": crate::flow::literal("String", "flow"),
        "waitForCompletion": crate::flow::literal("Boolean", true),
    });
    node.publish(sequence("flow", &[again])).await;
    let started = node.started("flow").await;
    settle().await;
    assert_eq!(started.instance.sub_status.as_str(), "Finished");
    let heads = world.rows("WF#").into_iter().filter(|row| row == "HEAD");
    let nested_max = usize::try_from(dormouse_runtime::NESTED_MAX).unwrap();
    assert_eq!(heads.count(), 1 + nested_max);
    let incidents = dormouse_runtime::query::InstanceFilter {
        has_incidents: Some(true),
        ..dormouse_runtime::query::InstanceFilter::default()
    };
    let paging = dormouse_runtime::query::Paging {
        ascending: false,
        skip: 0,
        limit: 100,
        cursor: None,
    };
    let order = dormouse_runtime::query::Order::Created;
    let found = node
        .query()
        .find_instances(&world.tenant, &incidents, order, &paging)
        .await
        .unwrap();
    let [innermost] = found.instances.as_slice() else {
        panic!("{} have incidents", found.instances.len());
    };
    assert_eq!(node.sub_status(&innermost.instance_id).await, "Faulted");
}
