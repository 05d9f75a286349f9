//! Workers that ask for tasks: what it costs, in which order tasks come, who is woken, and that each task is handed out
//! once however many ask, in one process or in several.

use std::collections::BTreeSet;
use std::pin::pin;

use dormouse_runtime::{PollRequest, Polled};
use dormouse_store::stimulus::task::TaskRow;
use futures_util::future::join_all;
use futures_util::poll;
use serde_json::{Value, json};

use crate::own_activities::{publish_type, worker};
use crate::world::{Node, World, settle, wait_ms};

fn request(max: usize, wait_ms: u64) -> PollRequest {
    PollRequest {
        queue: "q".into(),
        types: vec!["Acme.Work".into()],
        max,
        wait_ms,
        worker: "w".into(),
    }
}

/// The instances of the tasks that a request is handed.
async fn asked(world: &World, node: &Node, max: usize, wait_ms: u64) -> Vec<String> {
    let request = request(max, wait_ms);
    match node.tasks().poll(&world.tenant, &request).await.unwrap() {
        Polled::Tasks(tasks) => tasks.iter().map(instance).collect(),
        Polled::TooMany { limit } => panic!("{limit}"),
    }
}

fn instance(task: &Value) -> String {
    let id = &task["workflow"]["instanceId"];
    id.as_str().unwrap().to_owned()
}

/// Starts so many instances, one after the other.
async fn start(node: &Node, count: usize) -> Vec<String> {
    let mut started = Vec::new();
    for _ in 0..count {
        started.push(node.started("flow").await.instance.id.to_string());
        settle().await;
    }
    started
}

/// Asks until there is nothing left.
async fn drain(world: &World, node: &Node, max: usize) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        let some = asked(world, node, max, 0).await;
        if some.is_empty() {
            return all;
        }
        all.extend(some);
    }
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

async fn world_of_work() -> World {
    let world = World::new();
    publish_type(&world, worker(), json!({ "heartbeatMs": 5_000 })).await;
    world
}

#[tokio::test(start_paused = true)]
async fn many_who_ask_at_once_are_handed_other_tasks_for_two_calls_each() {
    const TASKS: usize = 300;
    const WORKERS: usize = 16;
    let world = world_of_work().await;
    let node = world.node();
    let started = start(&node, TASKS).await;
    let before = node.table.calls();
    let workers = (0..WORKERS).map(|_| drain(&world, &node, 1));
    let taken: Vec<String> = join_all(workers).await.into_iter().flatten().collect();
    assert_eq!(sorted(taken), sorted(started));
    let calls = node.table.calls() - before;
    // A task is a read and a commit. A queue is read a page at a time, and once more by each who ends.
    let most = 2 * TASKS + 2 + WORKERS;
    assert!((2 * TASKS..=most).contains(&calls), "{calls}");
}

#[tokio::test(start_paused = true)]
async fn one_request_takes_as_many_as_it_asks_for_and_the_oldest() {
    let world = world_of_work().await;
    let node = world.node();
    let started = start(&node, 60).await;
    let before = node.table.calls();
    let first = asked(&world, &node, 50, 0).await;
    assert_eq!(sorted(first), sorted(started[..50].to_vec()));
    assert_eq!(node.table.calls() - before, 101);
    let rest = asked(&world, &node, 50, 0).await;
    assert_eq!(sorted(rest), sorted(started[50..].to_vec()));
    assert!(asked(&world, &node, 50, 0).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_task_wakes_one_of_those_who_wait_and_at_once() {
    const WORKERS: usize = 16;
    let world = world_of_work().await;
    // They look again only after all is over.
    let node = world.node_with(|config| config.poll_pause_ms = 20_000);
    let wait = async || {
        let taken = asked(&world, &node, 1, 10_000).await;
        (taken, world.now())
    };
    let workers = join_all((0..WORKERS).map(|_| wait()));
    let starts = async {
        wait_ms(1_000).await;
        let before = node.table.calls();
        let started = start(&node, 3).await;
        wait_ms(1_000).await;
        (started, world.now(), node.table.calls() - before)
    };
    let (answers, (started, later, calls)) = tokio::join!(workers, starts);
    let (served, unserved): (Vec<_>, Vec<_>) = answers.into_iter().partition(|a| !a.0.is_empty());
    assert!(served.iter().all(|(_, at)| *at < later));
    let taken = served.into_iter().flat_map(|(taken, _)| taken).collect();
    assert_eq!(sorted(taken), sorted(started));
    assert_eq!(unserved.len(), WORKERS - 3);
    // Each start and its row take five calls, and each task two; those who are not woken read nothing.
    assert!(calls <= 3 * (5 + 2), "{calls}");
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_in_vain_look_together() {
    let world = world_of_work().await;
    let node = world.node();
    let before = node.table.calls();
    let waits = (0..16).map(|_| asked(&world, &node, 1, 1_000));
    let answers = join_all(waits).await;
    assert!(answers.iter().all(Vec::is_empty));
    // Each looks once, and all of them together every 100 ms.
    let calls = node.table.calls() - before;
    assert!(calls <= 16 + 11, "{calls}");
}

#[tokio::test(start_paused = true)]
async fn nodes_over_one_table_hand_out_each_task_once() {
    for world in [World::new(), World::split()] {
        publish_type(&world, worker(), json!({ "heartbeatMs": 20_000 })).await;
        let nodes: Vec<Node> = (0..3).map(|_| world.node()).collect();
        let started = start(&nodes[0], 250).await;
        let workers = nodes
            .iter()
            .flat_map(|node| (1..=4).map(|max| drain(&world, node, max)));
        let mut taken: Vec<String> = join_all(workers).await.into_iter().flatten().collect();
        // One who loses every race ends before the queue does.
        taken.extend(drain(&world, &nodes[0], 10).await);
        assert_eq!(sorted(taken), sorted(started));
        assert_eq!(world.rows("TASKS#"), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn what_another_node_adds_is_found_by_those_who_wait() {
    let world = world_of_work().await;
    let (here, there) = (world.node(), world.node());
    let waits = asked(&world, &here, 1, 10_000);
    let starts = async {
        wait_ms(1_000).await;
        start(&there, 1).await
    };
    let (taken, started) = tokio::join!(waits, starts);
    assert_eq!(taken, started);
}

#[tokio::test(start_paused = true)]
async fn a_long_queue_of_one_tenant_does_not_delay_another() {
    let mut world = world_of_work().await;
    let node = world.node();
    start(&node, 250).await;
    asked(&world, &node, 10, 0).await;
    world.tenant = dormouse_runtime::Tenant::new("other").unwrap();
    publish_type(&world, worker(), json!({})).await;
    let other = world.node();
    let id = other.started("flow").await.instance.id.to_string();
    settle().await;
    let before = node.table.calls();
    assert_eq!(asked(&world, &node, 10, 0).await, [id]);
    // A page of its own queue, its graph, and the task.
    let calls = node.table.calls() - before;
    assert!(calls <= 8, "{calls}");
}

#[tokio::test(start_paused = true)]
async fn rows_that_lead_nowhere_keep_nobody_from_a_task() {
    let world = world_of_work().await;
    let node = world.node();
    for n in 0..40 {
        let row = TaskRow {
            queue: "q".into(),
            activity_type: "Acme.Work".into(),
            since_ms: n,
            task_id: if n % 2 == 0 {
                format!("gone{n}.b")
            } else {
                format!("nonsense{n}")
            },
        };
        node.store()
            .task_rows()
            .put(&world.tenant, &row)
            .await
            .unwrap();
    }
    let started = start(&node, 2).await;
    assert_eq!(sorted(drain(&world, &node, 1).await), sorted(started));
    assert_eq!(world.rows("TASKS#"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_goes_away_loses_no_task() {
    let mut were_cut = BTreeSet::new();
    for steps in 0..60 {
        let world = world_of_work().await;
        let node = world.node();
        let started = start(&node, 3).await;
        {
            let mut request = pin!(asked(&world, &node, 3, 0));
            let mut is_cut = true;
            for _ in 0..steps {
                if poll!(&mut request).is_ready() {
                    is_cut = false;
                    break;
                }
                tokio::task::yield_now().await;
            }
            were_cut.insert(is_cut);
        }
        let mut taken = drain(&world, &node, 1).await;
        // What was leased already is offered again, for nothing is heard of it.
        wait_ms(6_000).await;
        node.fire_due().await;
        taken.extend(drain(&world, &node, 1).await);
        let taken: BTreeSet<String> = taken.into_iter().collect();
        assert_eq!(taken, started.into_iter().collect(), "after {steps} steps");
    }
    assert_eq!(were_cut.len(), 2, "some were cut off and some were not");
}
