//! Calls whose answer comes late or never: the ends of their time, and cancellations, do not wait for it.

use std::sync::atomic::Ordering;

use dormouse_runtime::{DefinitionHandle, ResumeOutcome, StartRequest};
use serde_json::{Value, json};

use crate::crashes::written;
use crate::flow::{call, sequence, steps, write};
use crate::world::{BEGIN, Node, World, settle};

const HOUR_MS: u64 = 3_600_000;

fn guarded(mut activity: Value, custom: Value) -> Value {
    activity["customProperties"] = custom;
    activity
}

/// Writes `late` if the body's time is over.
fn caught(body: Value) -> Value {
    json!({ "id": "try", "type": "Dormouse.TryCatch", "body": body, "errors": ["Timeout"], "catch": write("late") })
}

/// Starts a workflow whose calls take an hour; answers how long that took, ms.
async fn runs(world: &World, node: &Node, body: Value) -> i64 {
    world.web.slow_ms.store(HOUR_MS, Ordering::Relaxed);
    node.publish(sequence("flow", &[caught(body), write("after")]))
        .await;
    let id = node.started("flow").await.instance.id.to_string();
    settle().await;
    assert_eq!(node.sub_status(&id).await, "Finished");
    assert_eq!(written(node, world, &id).await, ["late", "after"]);
    assert_eq!(world.rows("TIMER"), Vec::<String>::new());
    world.now() - BEGIN
}

#[tokio::test(start_paused = true)]
async fn a_call_within_a_burst_ends_with_the_time_of_its_activity() {
    let world = World::new();
    let node = world.node();
    let took = runs(&world, &node, guarded(call(), json!({ "timeout": 2_000 }))).await;
    assert!((2_000..3_000).contains(&took), "{took} ms");
    assert_eq!(world.web.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_with_the_time_of_what_is_around_it() {
    let world = World::new();
    let node = world.node();
    let inner = guarded(call(), json!({ "timeout": 50_000 }));
    // Longer than a lease, so that it is renewed on the way.
    let outer = guarded(steps("box", &[inner]), json!({ "timeout": 40_000 }));
    let took = runs(&world, &node, outer).await;
    assert!((40_000..41_000).contains(&took), "{took} ms");
}

#[tokio::test(start_paused = true)]
async fn each_attempt_of_a_call_has_its_time() {
    let world = World::new();
    let node = world.node();
    let custom = json!({
        "timeout": { "attemptMs": 1_000 },
        "retry": { "maxAttempts": 3, "intervalMs": 100, "jitter": false },
    });
    world.web.slow_ms.store(HOUR_MS, Ordering::Relaxed);
    node.publish(sequence(
        "flow",
        &[caught(guarded(call(), custom)), write("after")],
    ))
    .await;
    let id = node.started("flow").await.instance.id.to_string();
    for _ in 0..2 {
        assert_eq!(node.sub_status(&id).await, "Suspended");
        crate::world::wait_ms(1_000).await;
        node.fire_due().await;
        settle().await;
    }
    assert_eq!(node.sub_status(&id).await, "Finished");
    assert_eq!(world.web.requests.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_does_not_wait_for_an_answer() {
    let world = World::new();
    let node = world.node();
    world.web.slow_ms.store(HOUR_MS, Ordering::Relaxed);
    node.publish(sequence("flow", &[call(), write("after")]))
        .await;
    let mut request = StartRequest::new(DefinitionHandle::published("flow"));
    request.instance_id = Some("i".into());
    let start = node.instances().start(&world.tenant, request);
    let cancel = async {
        crate::world::wait_ms(100).await;
        node.instances().cancel(&world.tenant, "i").await
    };
    let (started, cancelled) = futures_util::future::join(start, cancel).await;
    assert!(started.is_err(), "it was cut off");
    assert!(
        matches!(cancelled, Ok(ResumeOutcome::Resumed(_))),
        "{cancelled:?}"
    );
    assert!(world.now() - BEGIN < 1_000, "{} ms", world.now() - BEGIN);
    settle().await;
    node.sweep_later().await;
    assert_eq!(node.sub_status("i").await, "Cancelled");
    assert_eq!(world.web.requests.lock().unwrap().len(), 1);
}
