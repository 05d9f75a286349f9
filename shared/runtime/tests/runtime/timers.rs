//! Timers: on time, early, late, twice.

use dormouse_engine::time::Timestamp;
use dormouse_runtime::{Timer, TimerOutcome, Wakes};
use dormouse_store::instance::stamp::Stamp;

use crate::flow::{delay, sequence, write};
use crate::world::{Node, World, wait_ms};

/// An instance that waits for half a minute, and its timer.
async fn waiting(node: &Node) -> (String, Timer) {
    node.publish(sequence("flow", &[delay("00:00:30"), write("woken")]))
        .await;
    let started = node.started("flow").await;
    let timer = node.due(i64::MAX / 2).await.remove(0);
    (started.instance.id.to_string(), timer)
}

#[tokio::test(start_paused = true)]
async fn a_timer_wakes_its_instance_and_goes_with_the_commit() {
    let world = World::new();
    let node = world.node();
    let (id, _) = waiting(&node).await;
    wait_ms(29_000).await;
    assert_eq!(node.fire_due().await, 0);
    wait_ms(1_000).await;
    assert_eq!(node.fire_due().await, 1);
    assert_eq!(node.sub_status(&id).await, "Finished");
    assert_eq!(world.rows("TIMER"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_comes_early_is_scheduled_again_or_waited_for() {
    let world = World::new();
    let node = world.node();
    let (id, timer) = waiting(&node).await;
    let early = node.timers().fire(&timer).await.unwrap();
    assert!(matches!(early, TimerOutcome::Early));
    assert_eq!(node.sub_status(&id).await, "Suspended");
    wait_ms(29_500).await;
    let nearly = node.timers().fire(&timer).await.unwrap();
    assert!(matches!(nearly, TimerOutcome::Fired(_)));
    assert!(world.now() >= timer.due.0);
}

#[tokio::test(start_paused = true)]
async fn a_timer_that_comes_twice_or_late_changes_nothing() {
    let world = World::new();
    let (one, other) = (world.node(), world.node());
    let (id, timer) = waiting(&one).await;
    wait_ms(31_000).await;
    let (a, b) = tokio::join!(one.timers().fire(&timer), other.timers().fire(&timer));
    let fired = [a.unwrap(), b.unwrap()];
    let count = fired
        .iter()
        .filter(|outcome| matches!(outcome, TimerOutcome::Fired(_)))
        .count();
    assert_eq!(count, 1);
    wait_ms(3_600_000).await;
    let late = one.timers().fire(&timer).await.unwrap();
    assert!(matches!(late, TimerOutcome::Stale));
    assert_eq!(one.sub_status(&id).await, "Finished");
}

#[tokio::test(start_paused = true)]
async fn a_timer_ahead_of_its_commit_is_not_dropped() {
    let world = World::new();
    let node = world.node();
    let (id, timer) = waiting(&node).await;
    let Wakes::Bookmark {
        instance,
        stamp: Some(stamp),
        ..
    } = timer.wakes
    else {
        panic!("not a bookmark's");
    };
    let ahead = Timer {
        due: Timestamp(0),
        wakes: Wakes::Bookmark {
            instance,
            bookmark: "0000000000000000".into(),
            stamp: Some(Stamp {
                commit: stamp.commit + 1,
                attempt: 1,
                ..stamp
            }),
        },
        ..timer
    };
    let outcome = node.timers().fire(&ahead).await.unwrap();
    assert!(matches!(outcome, TimerOutcome::Later));
    assert_eq!(node.sub_status(&id).await, "Suspended");
}

#[tokio::test(start_paused = true)]
async fn a_delay_of_nothing_is_due_at_once() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[delay("00:00:00"), write("woken")]))
        .await;
    let started = node.started("flow").await;
    assert_eq!(node.fire_due().await, 1);
    assert_eq!(
        node.sub_status(started.instance.id.as_str()).await,
        "Finished"
    );
    assert_eq!(world.rows("TIMER"), Vec::<String>::new());
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
}
