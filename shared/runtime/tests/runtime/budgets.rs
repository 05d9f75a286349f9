//! How many calls to the table each use case takes. More of them is slower and dearer for everybody.

use std::sync::Arc;

use dormouse_runtime::{
    DefinitionHandle, ResumeOutcome, ResumeRequest, Runtime, RuntimeConfig, StartOutcome,
    StartRequest,
};
use dormouse_store::{MeteredTable, Store};
use serde_json::Map;

use crate::flow::{delay, event, sequence, write};
use crate::world::{Node, World, bookmark, settle, wait_ms};

/// Calls since the last time, the deliveries in the background included.
async fn spent(node: &Node, so_far: &mut usize) -> usize {
    settle().await;
    let calls = node.table.calls();
    calls - std::mem::replace(so_far, calls)
}

#[tokio::test(start_paused = true)]
async fn starts_and_resumes_stay_within_their_calls() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("short", &[write("a"), write("b")]))
        .await;
    node.publish(sequence(
        "waits",
        &[delay("00:00:10"), delay("00:00:10"), write("end")],
    ))
    .await;
    node.started("short").await;
    node.started("waits").await;
    let mut so_far = 0;
    spent(&node, &mut so_far).await;

    node.started("short").await;
    assert_eq!(spent(&node, &mut so_far).await, 2, "start to the end");
    let waiting = node.started("waits").await;
    assert_eq!(spent(&node, &mut so_far).await, 2, "start to a timer");
    let id = waiting.instance.id.to_string();
    node.wake(&id, &bookmark(&waiting)).await;
    assert_eq!(spent(&node, &mut so_far).await, 2, "resume to a timer");
    let again = node.wake(&id, &bookmark(&waiting)).await;
    assert!(matches!(again, ResumeOutcome::BookmarkGone(_)));
    assert_eq!(spent(&node, &mut so_far).await, 1, "duplicate");

    let key = StartRequest {
        idempotency_key: Some("k".into()),
        ..StartRequest::new(DefinitionHandle::published("short"))
    };
    node.begin(key.clone()).await;
    spent(&node, &mut so_far).await;
    let again = node.begin(key).await;
    assert!(matches!(again, StartOutcome::AlreadyStarted(_)));
    assert_eq!(spent(&node, &mut so_far).await, 2, "repeated start");
}

#[tokio::test(start_paused = true)]
async fn a_timer_costs_no_more_than_a_resume() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("waits", &[delay("00:00:10"), write("end")]))
        .await;
    node.started("waits").await;
    wait_ms(10_000).await;
    let mut so_far = 0;
    spent(&node, &mut so_far).await;
    node.fire_due().await;
    // One query finds what is due.
    assert_eq!(spent(&node, &mut so_far).await, 1 + 2);
}

#[tokio::test(start_paused = true)]
async fn an_event_to_nobody_and_to_one_stay_within_their_calls() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("waits", &[event("go"), write("end")]))
        .await;
    node.started("waits").await;
    let mut so_far = 0;
    spent(&node, &mut so_far).await;
    let one = node.started("waits").await;
    // One more looks for what was kept.
    assert_eq!(spent(&node, &mut so_far).await, 3, "start to an event");
    let other = node.started("waits").await;
    spent(&node, &mut so_far).await;
    let event = |instance_id| dormouse_runtime::EventRequest {
        name: "go".into(),
        instance_id,
        waits: true,
        ..Default::default()
    };
    let to = Some(one.instance.id.to_string());
    node.stimuli()
        .publish_event(&world.tenant, event(to))
        .await
        .unwrap();
    // Accept, load, commit, forget: its head tells whether it waits.
    assert_eq!(spent(&node, &mut so_far).await, 4, "event to one");
    node.stimuli()
        .publish_event(&world.tenant, event(None))
        .await
        .unwrap();
    // Accept, look for triggers and for bookmarks, note for whom it is, load and commit each, forget.
    assert_eq!(
        spent(&node, &mut so_far).await,
        4 + 2 * 2 + 1,
        "event to all"
    );
    assert_eq!(
        node.sub_status(other.instance.id.as_str()).await,
        "Finished"
    );
    spent(&node, &mut so_far).await;
    node.stimuli()
        .publish_event(&world.tenant, event(None))
        .await
        .unwrap();
    // Accept, look twice, queue, look again, forget.
    assert_eq!(spent(&node, &mut so_far).await, 6, "event to nobody");
}

#[tokio::test(start_paused = true)]
async fn a_resume_is_one_read_and_one_conditional_write() {
    let world = World::split();
    let node = world.node();
    node.publish(sequence("waits", &[event("a"), event("b"), write("end")]))
        .await;
    let table = Arc::new(MeteredTable::new(world.memory.clone()));
    let store = Store::new(table.clone(), world.layout.clone());
    let config = RuntimeConfig::server("metered");
    let runtime = Runtime::new(store, node.ports().clone(), Arc::default(), config);
    let start = || {
        runtime.instances().start(
            &world.tenant,
            StartRequest::new(DefinitionHandle::published("waits")),
        )
    };
    start().await.unwrap();
    settle().await;
    table.reset();
    let StartOutcome::Started(waiting) = start().await.unwrap() else {
        panic!("not started");
    };
    settle().await;
    // The published version; the bookmark's row; the head. Beside the answer: what is queued.
    let spent = table.reset();
    assert_eq!(
        (spent.get.calls, spent.update.calls, spent.transaction.calls),
        (1, 0, 0)
    );
    assert_eq!((spent.single_write.calls, spent.query.calls), (2, 1));
    let request =
        ResumeRequest::bookmark(waiting.instance.id.as_str(), bookmark(&waiting), Map::new());
    let ResumeOutcome::Resumed(waiting) = runtime
        .instances()
        .resume(&world.tenant, request)
        .await
        .unwrap()
    else {
        panic!("not resumed");
    };
    settle().await;
    // One read; the row of the new bookmark, the head, and the row of the closed one after it.
    let spent = table.reset();
    assert_eq!(
        (spent.get.calls, spent.update.calls, spent.transaction.calls),
        (1, 0, 0)
    );
    assert_eq!((spent.single_write.calls, spent.query.calls), (3, 1));
    let request =
        ResumeRequest::bookmark(waiting.instance.id.as_str(), bookmark(&waiting), Map::new());
    runtime
        .instances()
        .resume(&world.tenant, request)
        .await
        .unwrap();
    settle().await;
    // It prepares nothing: one read, one write, and the row of the closed bookmark.
    let spent = table.reset();
    assert_eq!((spent.get.calls, spent.single_write.calls), (1, 2));
    assert_eq!(spent.calls(), 3);
}
