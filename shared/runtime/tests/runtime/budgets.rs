//! How many calls to the table each use case takes. More of them is slower and dearer for everybody.

use dormouse_runtime::{DefinitionHandle, ResumeOutcome, StartOutcome, StartRequest};

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
    node.started("waits").await;
    // One more looks for what was kept.
    assert_eq!(spent(&node, &mut so_far).await, 3, "start to an event");
    let instance = node.started("waits").await;
    spent(&node, &mut so_far).await;
    let event = |instance_id| dormouse_runtime::EventRequest {
        name: "go".into(),
        instance_id,
        waits: true,
        ..Default::default()
    };
    let to = Some(instance.instance.id.to_string());
    node.publish_event(&world.tenant, event(to)).await.unwrap();
    // Accept, look, note for whom it is, lease, commit, forget.
    assert_eq!(spent(&node, &mut so_far).await, 6, "event to one");
}
