//! Ended instances go when their time has come, and nothing of them stays.

use dormouse_engine::id::splitmix;
use dormouse_runtime::{Retention, StartOutcome, StartRequest};

use crate::flow::{delay, event, sequence, write};
use crate::world::{Node, World, bookmark, settle, wait_ms};

const DAY_MS: u64 = 24 * 3_600_000;

fn keeping(world: &World, days: u32) -> Node {
    world.node_with(|config| {
        config.retention = Retention {
            finished_days: Some(days),
            cancelled_days: Some(days),
            ..Retention::default()
        };
    })
}

fn named(id: &str) -> StartRequest {
    StartRequest {
        instance_id: Some(id.into()),
        ..StartRequest::new(dormouse_runtime::DefinitionHandle::published("flow"))
    }
}

/// What lies in the instance's partition, and in its lists.
fn left(world: &World) -> Vec<String> {
    world.rows("/WF#")
}

#[tokio::test(start_paused = true)]
async fn a_short_period_ends_with_a_tombstone_that_goes_too() {
    let world = World::new();
    let node = keeping(&world, 1);
    node.publish(sequence("flow", &[write("a")])).await;
    node.begin(named("i")).await;
    assert_eq!(left(&world), ["HEAD", "UNTIL"]);
    wait_ms(DAY_MS - 1_000).await;
    assert_eq!(node.operations().sweep().await.unwrap().removed, 0);
    wait_ms(2_000).await;
    assert_eq!(node.operations().sweep().await.unwrap().removed, 1);
    assert_eq!(node.operations().sweep().await.unwrap().removed, 0);
    assert_eq!(left(&world), ["HEAD"]);
    let gone = node
        .query()
        .instance_head(&world.tenant, "i")
        .await
        .unwrap();
    assert!(gone.is_none());
    // The same start delivered once more does nothing: what has happened does not happen again.
    let again = node.begin(named("i")).await;
    assert!(matches!(again, StartOutcome::Deleted { .. }), "{again:?}");
    wait_ms(31 * DAY_MS).await;
    world.memory.sweep_expired(world.now() / 1_000);
    assert_eq!(left(&world), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_long_period_costs_nothing_and_the_table_itself_ends_it() {
    let world = World::new();
    let (plain, node) = (world.node(), keeping(&world, 60));
    node.publish(sequence("flow", &[write("a")])).await;
    plain.started("flow").await;
    node.started("flow").await;
    settle().await;
    let (before, so_far) = (node.table.calls(), plain.table.calls());
    plain.started("flow").await;
    node.begin(named("i")).await;
    settle().await;
    let costs = (node.table.calls() - before, plain.table.calls() - so_far);
    assert_eq!(costs, (2, 2), "calls with and without a period");
    assert_eq!(left(&world).len(), 4);
    wait_ms(59 * DAY_MS).await;
    assert_eq!(node.operations().sweep().await.unwrap().removed, 0);
    assert_eq!(world.memory.sweep_expired(world.now() / 1_000), 0);
    wait_ms(2 * DAY_MS).await;
    assert_eq!(world.memory.sweep_expired(world.now() / 1_000), 2);
    assert_eq!(left(&world).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_lies_beside_the_head_goes_with_it_wherever_the_sweep_is_cut_off() {
    // Texts that do not compress.
    let text = |n| format!("{:016x}{:016x}", splitmix(n), splitmix(n + 1_000));
    let loud: Vec<_> = (0..1_000).map(|n| write(&text(n))).collect();
    for at in 0.. {
        let world = World::new();
        let node = keeping(&world, 60);
        let activities = [&loud[..], &[event("go")], &[delay("00:00:01")]].concat();
        node.publish(sequence("flow", &activities)).await;
        let started = node.started("flow").await;
        let id = started.instance.id.to_string();
        node.wake(&id, &bookmark(&started)).await;
        wait_ms(1_000).await;
        node.fire_due().await;
        let beside = left(&world);
        assert!(beside.len() > 2, "the journal has moved: {beside:?}");
        wait_ms(61 * DAY_MS).await;
        let dying = world.dying_node(at, at % 2 == 0);
        let table = dying.table.clone();
        let sweeping = tokio::spawn(async move { dying.operations().sweep().await.map(|_| ()) });
        settle().await;
        let died = table.is_dead();
        sweeping.abort();
        node.operations().sweep().await.unwrap();
        assert_eq!(left(&world), ["HEAD"], "cut off at call {at}");
        wait_ms(31 * DAY_MS).await;
        world.memory.sweep_expired(world.now() / 1_000);
        assert_eq!(left(&world), Vec::<String>::new());
        assert_eq!(world.rows("STIM"), Vec::<String>::new());
        if !died {
            assert!(at > 5, "the sweep was cut off a few times");
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiting_instance_stays_and_a_cancelled_one_has_its_own_period() {
    let world = World::new();
    let node = world.node_with(|config| {
        config.retention = Retention {
            cancelled_days: Some(2),
            ..Retention::default()
        };
    });
    node.publish(sequence("flow", &[event("go"), write("a")]))
        .await;
    let (stays, goes) = (node.started("flow").await, node.started("flow").await);
    let finished = node.started("flow").await;
    node.wake(finished.instance.id.as_str(), &bookmark(&finished))
        .await;
    let id = goes.instance.id.to_string();
    node.instances().cancel(&world.tenant, &id).await.unwrap();
    wait_ms(3 * DAY_MS).await;
    assert_eq!(node.operations().sweep().await.unwrap().removed, 1);
    for report in [&stays, &finished] {
        let id = report.instance.id.as_str();
        let head = node.query().instance_head(&world.tenant, id).await.unwrap();
        assert!(head.is_some());
    }
}
