//! What is measured while instances begin, wait, go on and end.

use std::sync::Mutex;

use dormouse_runtime::port::{DefinitionChanged, Measure, Metric, Metrics};
use dormouse_runtime::{ResumeRequest, RuntimeError};
use serde_json::json;

use crate::flow::{delay, event, sequence, write};
use crate::world::{Node, World, bookmark, wait_ms};

/// Remembers every number.
#[derive(Default)]
pub(crate) struct Numbers(Mutex<Vec<Measure>>);

impl Metrics for Numbers {
    fn record(&self, measure: Measure) {
        self.0.lock().unwrap().push(measure);
    }
}

impl Numbers {
    fn of(&self, metric: Metric) -> Vec<i64> {
        let all = self.0.lock().unwrap();
        let of = all.iter().filter(|measure| measure.metric == metric);
        of.map(|measure| measure.value).collect()
    }

    fn sum(&self, metric: Metric) -> i64 {
        self.of(metric).iter().sum()
    }
}

async fn publish(node: &Node) {
    node.publish(sequence("waits", &[delay("00:00:30"), write("end")]))
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_instance_is_counted_when_it_begins_and_when_it_ends() {
    let world = World::new();
    let node = world.node();
    publish(&node).await;
    node.publish(sequence("short", &[write("a")])).await;
    let (one, _) = (node.started("waits").await, node.started("waits").await);
    node.started("short").await;
    let numbers = &world.numbers;
    assert_eq!(numbers.sum(Metric::InstancesStarted), 3);
    assert_eq!(numbers.sum(Metric::InstancesActiveChange), 2);
    assert_eq!(numbers.sum(Metric::TimersScheduled), 2);
    assert_eq!(numbers.sum(Metric::InstancesCompleted), 1);

    let id = one.instance.id.to_string();
    node.instances().cancel(&world.tenant, &id).await.unwrap();
    wait_ms(33_000).await;
    assert_eq!(node.fire_due().await, 1);
    assert_eq!(numbers.sum(Metric::InstancesActiveChange), 0);
    assert_eq!(numbers.sum(Metric::InstancesCancelled), 1);
    assert_eq!(numbers.sum(Metric::InstancesCompleted), 2);
    assert_eq!(numbers.of(Metric::TimersFired), [1]);
    assert_eq!(numbers.of(Metric::TimerLatenessMs), [3_000]);
    assert_eq!(numbers.of(Metric::TimersMisfired), [0; 0]);
    assert_eq!(numbers.of(Metric::BurstMs).len(), 5);
    // Nobody was in the way, so nobody needed a lease.
    assert_eq!(numbers.of(Metric::LeaseHeldMs), [0; 0]);
    assert_eq!(numbers.of(Metric::LeaseWaitMs), [0; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_burst_that_has_lost_a_race_takes_a_lease_and_measures_it() {
    let world = World::new();
    let (one, other) = (world.node(), world.node());
    let both =
        json!({ "type": "Elsa.Parallel", "id": "both", "activities": [event("a"), event("b")] });
    one.publish(sequence("flow", &[both])).await;
    let started = one.started("flow").await;
    let id = started.instance.id.as_str();
    let [a, b] = started.instance.bookmarks.as_slice() else {
        panic!("not two bookmarks");
    };
    other.wake("nobody", "x").await;
    tokio::join!(one.wake(id, a.id.as_str()), other.wake(id, b.id.as_str()));
    assert_eq!(one.sub_status(id).await, "Finished");
    assert_eq!(world.numbers.of(Metric::LeaseHeldMs).len(), 1);
    assert_eq!(world.numbers.of(Metric::LeaseWaitMs).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_timer_over_a_minute_late_counts_as_missed() {
    let world = World::new();
    let node = world.node();
    publish(&node).await;
    node.started("waits").await;
    wait_ms(30_000 + 60_001).await;
    node.fire_due().await;
    assert_eq!(world.numbers.of(Metric::TimersMisfired), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_somebody_has_is_contended_once_and_may_be_waited_for_in_vain() {
    let world = World::new();
    let node = world.node();
    publish(&node).await;
    let started = node.started("waits").await;
    let id = started.instance.id.to_string();
    let request = ResumeRequest::bookmark(&id, bookmark(&started), serde_json::Map::new());
    // Somebody takes the lease and does not come back.
    node.hold(&id, 30_000).await;
    let refused = node.instances().resume(&world.tenant, request).await;
    assert!(matches!(refused, Err(RuntimeError::InProgress { .. })));
    assert_eq!(world.numbers.of(Metric::LeaseContended), [1]);
    assert_eq!(world.numbers.of(Metric::LeaseFailed), [1]);
}

#[tokio::test(start_paused = true)]
async fn being_told_of_a_change_is_counted() {
    let world = World::new();
    let node = world.node();
    node.graphs().invalidate(&DefinitionChanged {
        tenant: "default".into(),
        definition_id: "d".into(),
    });
    assert_eq!(world.numbers.of(Metric::CacheInvalidations), [1]);
    node.operations().sweep().await.unwrap();
    assert_eq!(world.numbers.of(Metric::Sweeps), [1]);
}
