//! Thousands of effects of one commit: all of them are delivered, or none if there was no such commit.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_runtime::{Runtime, RuntimeConfig};
use serde_json::{Value, json};

use crate::flow::{literal, sequence};
use crate::world::{World, settle, wait_ms};

/// Starts this many children.
const CHILDREN: usize = 3_000;

fn bulk() -> Value {
    json!({
        "type": "Elsa.BulkDispatchWorkflows", "id": "bulk", "waitForCompletion": literal("Boolean", false),
        "workflowDefinitionId": literal("String", "child"),
        "items": literal("Object", json!((0..CHILDREN).collect::<Vec<_>>())),
    })
}

/// The instances in the table.
fn instances(world: &World) -> BTreeSet<String> {
    let heads = world.memory.items().into_iter();
    let heads = heads.filter(|item| item.key.sort == "HEAD" && item.key.partition.contains("/WF#"));
    heads.map(|item| item.key.partition).collect()
}

/// A world whose commits are split, with the two definitions.
async fn world() -> World {
    let world = World::split();
    let node = world.node();
    node.publish(sequence("child", &[])).await;
    node.publish(sequence("flow", &[bulk()])).await;
    world
}

#[tokio::test(start_paused = true)]
async fn thousands_of_children_are_started_though_their_parent_dies_after_its_commit() {
    let world = world().await;
    let node = world.freezing_node();
    let table = node.table.clone();
    let (runtime, tenant) = (node.runtime.clone(), world.tenant.clone());
    let starting = tokio::spawn(async move {
        let request = dormouse_runtime::StartRequest::new(
            dormouse_runtime::DefinitionHandle::published("flow"),
        );
        runtime
            .instances()
            .start(&tenant, request)
            .await
            .map(|_| ())
    });
    wait_ms(100).await;
    assert!(table.is_frozen(), "at its commit");
    let prepared = world.rows("OUTBOX").len();
    assert!(prepared > 1, "too much for one row: {prepared}");
    // The commit is the last of its calls that goes through.
    table.die_after(1);
    table.thaw();
    settle().await;
    wait_ms(100).await;
    assert!(table.is_dead());
    starting.abort();
    assert_eq!(instances(&world).len(), 1, "nothing is delivered yet");

    let healer = world.node();
    for _ in 0..20 {
        healer.sweep_later().await;
        if world.rows("OUTBOX").is_empty() {
            break;
        }
    }
    assert_eq!(instances(&world).len(), 1 + CHILDREN);
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn none_of_them_is_started_if_the_commit_was_lost() {
    let world = world().await;
    let node = world.freezing_node();
    let (runtime, tenant) = (node.runtime.clone(), world.tenant.clone());
    let starting = tokio::spawn(async move {
        let request = dormouse_runtime::StartRequest::new(
            dormouse_runtime::DefinitionHandle::published("flow"),
        );
        runtime
            .instances()
            .start(&tenant, request)
            .await
            .map(|_| ())
    });
    wait_ms(100).await;
    assert!(node.table.is_frozen(), "at its commit");
    assert!(world.rows("OUTBOX").len() > 1);
    // It dies there.
    starting.abort();
    let healer = world.node();
    for _ in 0..5 {
        healer.sweep_later().await;
    }
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    assert_eq!(instances(&world).len(), 1, "a placeholder, and no child");
    let letters = healer
        .dead_letters()
        .list(&world.tenant, 10, None)
        .await
        .unwrap();
    assert_eq!(letters.letters.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn they_are_delivered_a_bounded_number_at_a_time() {
    let world = world().await;
    let node = world.node();
    let config = RuntimeConfig {
        deliveries_parallel_max: 8,
        ..RuntimeConfig::server("few")
    };
    let runtime = Runtime::new(
        node.store().clone(),
        node.ports().clone(),
        Arc::default(),
        config,
    );
    let request =
        dormouse_runtime::StartRequest::new(dormouse_runtime::DefinitionHandle::published("flow"));
    node.table.watch();
    runtime
        .instances()
        .start(&world.tenant, request)
        .await
        .unwrap();
    wait_ms(1_000).await;
    assert_eq!(instances(&world).len(), 1 + CHILDREN);
    let most = node.table.most_at_once();
    assert!((2..=16).contains(&most), "{most} calls at once");
}
