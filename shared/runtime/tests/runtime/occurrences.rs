//! Recurring triggers: nominal times, generations, overlap policies, catching up.

use dormouse_engine::graph::Recurrence;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::{Occurrence, Overlap, Timer, TimerOutcome};
use dormouse_store::instance::list::{InstanceFilter, Paging};

use crate::flow::{cron, event, sequence, write};
use crate::world::{BEGIN, Node, World, settle, wait_ms};

const MINUTE: i64 = 60_000;

async fn timers(world: &World) -> Vec<Timer> {
    world.node().due(i64::MAX / 2).await
}

/// Sub-statuses of all instances, oldest first.
async fn statuses(node: &Node, world: &World) -> Vec<String> {
    let paging = Paging {
        ascending: true,
        skip: 0,
        limit: 100,
        cursor: None,
    };
    let page = node
        .query()
        .instances(&world.tenant, &InstanceFilter::default(), &paging)
        .await
        .unwrap();
    let listed = page.instances.into_iter();
    listed.map(|one| one.summary.sub_status).collect()
}

/// Fires what is due, minute by minute.
async fn minutes(node: &Node, count: u32) {
    for _ in 0..count {
        wait_ms(60_000).await;
        node.fire_due().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cron_trigger_starts_an_instance_for_each_occurrence() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence(
        "flow",
        &[cron("0 * * * * *", "allow"), write("tick")],
    ))
    .await;
    let first = timers(&world).await;
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].due, Timestamp(BEGIN + MINUTE));
    minutes(&node, 3).await;
    assert_eq!(statuses(&node, &world).await, ["Finished"; 3]);
    // Fired again on two nodes, an occurrence changes nothing.
    let (one, other) = (world.node(), world.node());
    let (a, b) = tokio::join!(one.timers().fire(&first[0]), other.timers().fire(&first[0]));
    assert!(!matches!(a.unwrap(), TimerOutcome::Fired(_)));
    assert!(!matches!(b.unwrap(), TimerOutcome::Fired(_)));
    assert_eq!(statuses(&node, &world).await.len(), 3);
    let left = timers(&world).await;
    assert_eq!(left.last().unwrap().due, Timestamp(BEGIN + 4 * MINUTE));
}

#[tokio::test(start_paused = true)]
async fn occurrences_of_a_version_before_are_no_ops() {
    let world = World::new();
    let node = world.node();
    let flow = |text| sequence("flow", &[cron("0 * * * * *", "allow"), write(text)]);
    node.publish(flow("old")).await;
    let old = timers(&world).await.remove(0);
    node.publish(flow("new")).await;
    wait_ms(60_000).await;
    let stale = node.timers().fire(&old).await.unwrap();
    assert!(matches!(stale, TimerOutcome::Stale));
    node.fire_due().await;
    assert_eq!(statuses(&node, &world).await.len(), 1);
    node.definitions()
        .retract(&world.tenant, "flow")
        .await
        .unwrap();
    minutes(&node, 3).await;
    assert_eq!(statuses(&node, &world).await.len(), 1);
    assert_eq!(timers(&world).await, []);
}

#[tokio::test(start_paused = true)]
async fn an_overlap_policy_decides_about_a_running_instance() {
    for (policy, after_three) in [
        ("allow", vec!["Suspended"; 3]),
        ("skip", vec!["Suspended"]),
        ("bufferOne", vec!["Suspended"]),
        (
            "cancelPrevious",
            vec!["Cancelled", "Cancelled", "Suspended"],
        ),
    ] {
        let world = World::new();
        let node = world.node();
        node.publish(sequence(
            "flow",
            &[cron("0 * * * * *", policy), event("go")],
        ))
        .await;
        minutes(&node, 3).await;
        assert_eq!(statuses(&node, &world).await, after_three, "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_buffered_occurrence_starts_when_the_running_one_ends() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence(
        "flow",
        &[cron("0 * * * * *", "bufferOne"), event("go")],
    ))
    .await;
    minutes(&node, 4).await;
    assert_eq!(statuses(&node, &world).await, ["Suspended"]);
    let wake = dormouse_runtime::EventRequest {
        name: "go".into(),
        waits: true,
        ..Default::default()
    };
    node.stimuli()
        .publish_event(&world.tenant, wake.clone())
        .await
        .unwrap();
    settle().await;
    assert_eq!(statuses(&node, &world).await, ["Finished", "Suspended"]);
    node.stimuli()
        .publish_event(&world.tenant, wake)
        .await
        .unwrap();
    settle().await;
    assert_eq!(statuses(&node, &world).await, ["Finished", "Finished"]);
    minutes(&node, 1).await;
    assert_eq!(statuses(&node, &world).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn after_downtime_only_the_latest_missed_occurrence_fires() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence(
        "flow",
        &[cron("0 0 * * * *", "allow"), write("tick")],
    ))
    .await;
    wait_ms(5 * 3_600_000 + 1_800_000).await;
    node.fire_due().await;
    assert_eq!(statuses(&node, &world).await, ["Finished"]);
    let next = timers(&world).await.remove(0);
    assert_eq!(next.due, Timestamp(BEGIN + 6 * 60 * MINUTE));
}

#[tokio::test(start_paused = true)]
async fn of_racing_nodes_one_starts_an_occurrence() {
    let world = World::new();
    let nodes: Vec<_> = (0..5).map(|_| world.node()).collect();
    nodes[0]
        .publish(sequence(
            "flow",
            &[cron("0 * * * * *", "skip"), event("go")],
        ))
        .await;
    let timer = timers(&world).await.remove(0);
    wait_ms(60_000).await;
    let mut racing = Vec::new();
    for n in 0..50 {
        let (runtime, timer) = (nodes[n % 5].runtime.clone(), timer.clone());
        racing.push(tokio::spawn(
            async move { runtime.timers().fire(&timer).await },
        ));
    }
    for one in racing {
        // Those who do not schedule the next one come again to see that somebody did.
        let outcome = one.await.unwrap().unwrap();
        assert!(!matches!(outcome, TimerOutcome::Early), "{outcome:?}");
    }
    assert_eq!(statuses(&nodes[0], &world).await, ["Suspended"]);
    for node in &nodes {
        let again = node.timers().fire(&timer).await.unwrap();
        assert!(matches!(again, TimerOutcome::Stale), "{again:?}");
    }
    let left = timers(&world).await;
    assert_eq!(left.len(), 1, "one chain");
    assert_eq!(left[0].due, Timestamp(BEGIN + 2 * MINUTE));
    assert_eq!(statuses(&nodes[0], &world).await, ["Suspended"]);
}

#[tokio::test(start_paused = true)]
async fn the_stored_form_of_an_occurrence_stays() {
    let occurrence = Occurrence {
        definition_id: "d".into(),
        generation: 3,
        activity_id: "a".into(),
        nominal: Timestamp(60_000),
        recurrence: Recurrence::Every { interval_ms: 1_000 },
        overlap: Overlap::BufferOne,
    };
    let expected = serde_json::json!({
        "definitionId": "d", "generation": 3, "activityId": "a", "nominal": 60_000,
        "recurrence": { "kind": "every", "intervalMs": 1_000 }, "overlap": "bufferOne",
    });
    assert_eq!(serde_json::to_value(occurrence).unwrap(), expected);
}
