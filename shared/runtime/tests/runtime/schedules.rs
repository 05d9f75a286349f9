//! Schedules for people: what is listed, and an occurrence that is left out.

use std::time::Duration;

use dormouse_engine::time::Timestamp;
use dormouse_runtime::{InstanceTimerPage, OpenTaskPage, SkipOutcome};
use dormouse_store::instance::list::{InstanceFilter, Paging};

use crate::flow::{cron, delay, event, parallel, sequence, task, write};
use crate::world::{BEGIN, Node, World, wait_ms};

const MINUTE: i64 = 60_000;

async fn count(node: &Node, world: &World) -> usize {
    let paging = Paging {
        ascending: true,
        skip: 0,
        limit: 100,
        cursor: None,
    };
    let filter = InstanceFilter::default();
    let query = node.query();
    let page = query.instances(&world.tenant, &filter, &paging);
    page.await.unwrap().instances.len()
}

async fn skip(node: &Node, world: &World, minute: i64) -> SkipOutcome {
    let at = Timestamp(BEGIN + minute * MINUTE);
    let timers = node.timers();
    let skipped = timers.skip_occurrence(&world.tenant, ("flow", "cron"), at);
    skipped.await.unwrap()
}

async fn next(node: &Node, world: &World) -> Vec<i64> {
    let page = node.timers().schedules(&world.tenant, None, 10).await;
    let schedules = page.unwrap().schedules;
    let next = schedules.into_iter().flat_map(|schedule| schedule.next);
    next.map(|at| (at.0 - BEGIN) / MINUTE).collect()
}

fn of_any() -> InstanceFilter {
    InstanceFilter::default()
}

async fn publish(world: &World) -> Node {
    let node = world.node();
    let flow = sequence("flow", &[cron("0 * * * * *", "allow"), write("tick")]);
    node.publish(flow).await;
    node
}

#[tokio::test(start_paused = true)]
async fn a_skipped_occurrence_starts_nothing_and_the_next_one_does() {
    let world = World::new();
    let node = publish(&world).await;
    assert_eq!(next(&node, &world).await, [1, 2, 3, 4, 5]);
    let late = world.node().due(i64::MAX / 2).await.remove(0);
    let after = Timestamp(BEGIN + 2 * MINUTE);
    assert_eq!(
        skip(&node, &world, 1).await,
        SkipOutcome::Skipped(Some(after))
    );
    assert_eq!(next(&node, &world).await, [2, 3, 4, 5, 6]);
    // A second request for the same occurrence leaves out no other one.
    assert_eq!(
        skip(&node, &world, 1).await,
        SkipOutcome::NotNext { next: after }
    );
    wait_ms(60_000).await;
    node.fire_due().await;
    node.timers().fire(&late).await.unwrap();
    assert_eq!(count(&node, &world).await, 0);
    wait_ms(60_000).await;
    node.fire_due().await;
    assert_eq!(count(&node, &world).await, 1);
    let started = skip(&node, &world, 2).await;
    assert!(
        matches!(started, SkipOutcome::Started { .. }),
        "{started:?}"
    );
    let other = node.timers();
    let other = other.skip_occurrence(&world.tenant, ("flow", "nothing"), after);
    assert_eq!(other.await.unwrap(), SkipOutcome::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_skip_that_is_cut_off_leaves_the_chain_whole() {
    for at in 0..12 {
        for last_happens in [false, true] {
            let world = World::new();
            let node = publish(&world).await;
            let dying = world.dying_node(at, last_happens);
            let first = Timestamp(BEGIN + MINUTE);
            let timers = dying.timers();
            let cut_off = timers.skip_occurrence(&world.tenant, ("flow", "cron"), first);
            // A node that is dead gives no answer.
            let cut_off = tokio::time::timeout(Duration::from_secs(1), cut_off);
            let is_done = cut_off.await.is_ok_and(|skipped| skipped.is_ok());
            let again = skip(&node, &world, 1).await;
            let is_skipped = matches!(again, SkipOutcome::Skipped(_) | SkipOutcome::NotNext { .. });
            assert!(is_skipped, "{at} {last_happens}: {again:?}");
            for _ in 0..2 {
                wait_ms(90_000).await;
                node.fire_due().await;
                node.sweep_later().await;
                node.fire_due().await;
            }
            // Minutes 2 and 3, and perhaps those that the sweep waited for: never minute 1.
            let minutes = (world.now() - BEGIN) / MINUTE;
            let started = i64::try_from(count(&node, &world).await).unwrap();
            assert!(
                started >= 1 && started < minutes,
                "{at} {last_happens} {is_done}: {started}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn schedules_are_paged_and_those_out_of_force_are_left_out() {
    let world = World::new();
    let node = world.node();
    for n in 0..7 {
        let flow = sequence(
            &format!("f{n}"),
            &[cron("0 0 * * * *", "skip"), write("tick")],
        );
        node.publish(flow).await;
    }
    node.definitions()
        .retract(&world.tenant, "f3")
        .await
        .unwrap();
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let timers = node.timers();
        let page = timers.schedules(&world.tenant, cursor.as_deref(), 2).await;
        let page = page.unwrap();
        found.extend(page.schedules.into_iter().map(|one| one.definition_id));
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, ["f0", "f1", "f2", "f4", "f5", "f6"]);
}

#[tokio::test(start_paused = true)]
async fn timers_and_tasks_of_instances_are_paged_to_the_end() {
    let world = World::new();
    let node = world.node();
    let waits = [delay("00:10:00"), task("Review"), event("go")];
    node.publish(sequence("both", &[parallel(&waits)])).await;
    node.publish(sequence("other", &[event("go")])).await;
    let mut started = Vec::new();
    for n in 0..9 {
        let definition = if n % 3 == 0 { "other" } else { "both" };
        let report = node.started(definition).await;
        if definition == "both" {
            started.push(report.instance.id.to_string());
        }
        wait_ms(1_000).await;
    }
    let (mut timers, mut tasks) = (Vec::new(), Vec::new());
    let mut cursor = None;
    loop {
        let handle = node.timers();
        let page = handle.instance_timers(&world.tenant, cursor.as_deref(), 4);
        let InstanceTimerPage {
            timers: found,
            cursor: next,
            are_listed,
        } = page.await.unwrap();
        assert!(are_listed && found.len() <= 4);
        timers.extend(found.into_iter().map(|timer| timer.instance_id));
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    loop {
        let handle = node.tasks();
        let page = handle.open(&world.tenant, (Some("Review"), of_any()), cursor.take(), 4);
        let OpenTaskPage {
            tasks: found,
            cursor: next,
        } = page.await.unwrap();
        tasks.extend(found.into_iter().map(|task| task.instance_id));
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(timers, started);
    assert_eq!(tasks, started);
    let other = node.tasks();
    let none = other.open(&world.tenant, (Some("Nothing"), of_any()), None, 100);
    assert_eq!(none.await.unwrap(), OpenTaskPage::default());
}
