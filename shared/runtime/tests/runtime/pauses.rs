//! Pauses: what asks is refused, what comes by itself is put back, and everything goes on by itself afterwards.

use dormouse_runtime::message::{StartFacts, Task};
use dormouse_runtime::{
    DefinitionHandle, Delivered, EventRequest, Message, PAUSE_SEEN_MS, ResumeRequest, RuntimeError,
    StartRequest,
};
use serde_json::Map;

use crate::flow::{cron, delay, event, event_trigger, sequence, task, write};
use crate::world::{Node, World, bookmark, settle, wait_ms};

fn start(id: &str) -> StartRequest {
    StartRequest::new(DefinitionHandle::published(id))
}

fn named(name: &str) -> EventRequest {
    EventRequest {
        name: name.into(),
        ..EventRequest::default()
    }
}

async fn pause(node: &Node) {
    node.pauses().begin("ada", None).await.unwrap().unwrap();
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, RuntimeError>) {
    assert!(
        matches!(result, Err(RuntimeError::Paused { .. })),
        "{result:?}"
    );
}

/// The rows of timers and of the outbox, and the dead letters.
fn left(world: &World) -> [usize; 3] {
    ["~/TIMER", "~/OUTBOX", "/DEAD"].map(|partition| world.rows(partition).len())
}

#[tokio::test(start_paused = true)]
async fn during_a_pause_nothing_is_started_or_woken_by_whoever_asks() {
    let world = World::new();
    let (node, tenant) = (world.node(), &world.tenant);
    node.publish(sequence("flow", &[event("go"), task("pack")]))
        .await;
    let waiting = node.started("flow").await;
    let (id, at) = (waiting.instance.id.to_string(), bookmark(&waiting));
    let before = world.memory.items();
    pause(&node).await;

    refused(node.instances().start(tenant, start("flow")).await);
    refused(node.instances().dispatch(tenant, start("flow")).await);
    let resume = ResumeRequest::bookmark(&id, &at, Map::new());
    refused(node.instances().resume(tenant, resume).await);
    refused(node.stimuli().publish_event(tenant, named("go")).await);
    let waits = EventRequest {
        waits: true,
        ..named("go")
    };
    refused(node.stimuli().publish_event(tenant, waits).await);
    refused(node.instances().retry(tenant, &id, Vec::new()).await);
    refused(node.dead_letters().replay(tenant, "any", false).await);
    settle().await;
    // Nothing has changed but that there is a pause.
    let mut after = world.memory.items();
    after.retain(|item| item.key.partition != "~/PAUSE");
    assert_eq!(after, before);

    // What ends is ended, and what is published is published.
    node.instances().cancel(tenant, &id).await.unwrap();
    assert_eq!(node.sub_status(&id).await, "Cancelled");
    node.publish(sequence("other", &[write("hello")])).await;
    node.pauses().end().await.unwrap();
    node.started("other").await;
}

#[tokio::test(start_paused = true)]
async fn another_node_sees_a_pause_when_it_looks_and_reads_nothing_for_it_otherwise() {
    let world = World::new();
    let (one, two) = (world.node(), world.node());
    one.publish(sequence("flow", &[write("hello")])).await;
    two.started("flow").await;
    let before = two.table.calls();
    pause(&one).await;
    // It has not looked yet: it knows nothing, and a start is its write and its read.
    two.started("flow").await;
    assert_eq!(two.table.calls(), before + 2);
    two.pauses().look_now_and_then().await.unwrap();
    refused(two.instances().start(&world.tenant, start("flow")).await);
    one.pauses().end().await.unwrap();
    // Not looked at anew: that is for later.
    two.pauses().look_now_and_then().await.unwrap();
    refused(two.instances().start(&world.tenant, start("flow")).await);
    wait_ms(PAUSE_SEEN_MS.unsigned_abs()).await;
    two.pauses().look_now_and_then().await.unwrap();
    two.started("flow").await;
}

#[tokio::test(start_paused = true)]
async fn timers_and_occurrences_wait_for_the_end_of_a_pause() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[delay("00:00:30"), write("woken")]))
        .await;
    node.publish(sequence(
        "often",
        &[cron("0 * * * * *", "allow"), write("fired")],
    ))
    .await;
    let id = node.started("flow").await.instance.id.to_string();
    pause(&node).await;
    let before = left(&world);
    wait_ms(3_600_000).await;
    let due = node.due(world.now()).await;
    assert_eq!(due.len(), 2);
    for timer in due {
        refused(node.timers().fire(&timer).await);
        let message = Message::new("m", world.tenant.clone(), Task::Fire { timer });
        assert_eq!(
            node.delivery().deliver(&message).await.unwrap(),
            Delivered::Paused
        );
    }
    node.operations().sweep().await.unwrap();
    assert_eq!(left(&world), before);
    assert_eq!(node.sub_status(&id).await, "Suspended");

    node.pauses().end().await.unwrap();
    assert_eq!(node.fire_due().await, 2);
    assert_eq!(node.sub_status(&id).await, "Finished");
    // Of the sixty that were missed the latest, as after a downtime; and the next one is set.
    assert_eq!(
        world.rows("/WF#").iter().filter(|s| *s == "HEAD").count(),
        2
    );
    assert_eq!(left(&world), [1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn what_lies_in_the_outbox_stays_there_however_long_a_pause_is() {
    let world = World::new();
    let (node, tenant) = (world.node(), &world.tenant);
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    node.publish(sequence("seen", &[event_trigger("go"), write("end")]))
        .await;
    let waiting = node.started("flow").await.instance.id.to_string();
    // What a node accepted and died before it could deliver.
    let (event, _) = node.stimuli().event_message(tenant, named("go"));
    let task = Task::Start {
        instance: "dispatched".into(),
        definition: DefinitionHandle::published("flow"),
        start: StartFacts::default(),
    };
    let start = Message::new("start/dispatched", tenant.clone(), task);
    for message in [event, start] {
        let effects = [message.effect().unwrap()];
        let put = node
            .store()
            .outbox()
            .put(tenant, &message.id, world.now(), &effects);
        put.await.unwrap();
    }
    pause(&node).await;
    assert_eq!(left(&world), [0, 2, 0]);
    for _ in 0..40 {
        let report = node.sweep_later().await;
        assert_eq!((report.delivered, report.left, report.given_up), (0, 2, 0));
    }
    assert_eq!(left(&world), [0, 2, 0]);
    assert_eq!(node.sub_status(&waiting).await, "Suspended");

    node.pauses().end().await.unwrap();
    let report = node.sweep_later().await;
    assert_eq!((report.delivered, report.left, report.given_up), (2, 0, 0));
    assert_eq!(node.sub_status(&waiting).await, "Finished");
    assert_eq!(left(&world), [0, 0, 0]);
    // The waiting one, the triggered one, the dispatched one.
    assert_eq!(
        world.rows("/WF#").iter().filter(|s| *s == "HEAD").count(),
        3
    );
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_kept_outlives_a_pause_and_meets_its_bookmark_after_it() {
    let world = World::new();
    let (node, tenant) = (world.node(), &world.tenant);
    node.publish(sequence(
        "flow",
        &[delay("00:05:00"), event("go"), write("end")],
    ))
    .await;
    let id = node.started("flow").await.instance.id.to_string();
    let kept = EventRequest {
        queued_ms: Some(600_000),
        instance_id: Some(id.clone()),
        ..named("go")
    };
    let brief = EventRequest {
        queued_ms: Some(1_000),
        ..named("nobody")
    };
    node.stimuli().publish_event(tenant, kept).await.unwrap();
    node.stimuli().publish_event(tenant, brief).await.unwrap();
    wait_ms(2_000).await;
    // What had expired before the pause has expired.
    pause(&node).await;
    let expired = node.operations().sweep().await.unwrap().expired;
    assert_eq!((expired, left(&world)[2]), (1, 1));
    for _ in 0..120 {
        assert_eq!(node.sweep_later().await.expired, 0);
    }
    node.pauses().end().await.unwrap();
    node.fire_due().await;
    node.sweep_later().await;
    assert_eq!(node.sub_status(&id).await, "Finished");
    assert_eq!(left(&world), [0, 0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_message_comes_again_after_as_long_as_the_pause_has_lasted() {
    let world = World::new();
    let node = world.node();
    pause(&node).await;
    for (after_ms, least, most) in [
        (0, 5_000, 6_250),
        (60_000, 60_000, 76_250),
        (3_600_000, 240_000, 300_000),
    ] {
        wait_ms(after_ms).await;
        let again = node.pauses().again_after_pause_ms();
        assert!((least..most).contains(&again), "{again}");
    }
}
