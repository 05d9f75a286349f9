//! What is found of a commit that has not happened: it is waited for while it may come, and made impossible before
//! anything of it is dropped.

use dormouse_runtime::{
    DefinitionHandle, ResumeOutcome, ResumeRequest, Runtime, StartOutcome, StartRequest, Tenant,
};
use dormouse_runtime::{EventRequest, Timer, TimerOutcome, Wakes};
use dormouse_store::instance::commit::{Commit, Committed};
use dormouse_store::instance::lease::{Loaded, Open, Opened};
use dormouse_store::stimulus::bookmark::{FoundBy, NewBookmark};
use serde_json::Map;

use crate::crashes::written;
use crate::flow::{delay, event, sequence, write};
use crate::world::{Node, World, bookmark, settle, wait_ms};

fn is_later(outcome: &TimerOutcome) -> bool {
    matches!(outcome, TimerOutcome::Later)
}

/// Starts an instance under an id, in the background.
fn start(runtime: Runtime, tenant: Tenant, id: &str) -> tokio::task::JoinHandle<StartOutcome> {
    let request = StartRequest {
        instance_id: Some(id.into()),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    };
    tokio::spawn(async move { runtime.instances().start(&tenant, request).await.unwrap() })
}

#[tokio::test(start_paused = true)]
async fn a_timer_of_a_frozen_resume_waits_for_it_then_fences_it_and_the_late_commit_is_refused() {
    let world = World::split();
    let node = world.node();
    node.publish(sequence(
        "flow",
        &[event("go"), delay("00:00:01"), write("woken")],
    ))
    .await;
    let started = node.started("flow").await;
    let id = started.instance.id.to_string();
    let slow = world.freezing_node();
    let request = ResumeRequest::bookmark(&id, bookmark(&started), Map::new());
    let (runtime, tenant) = (slow.runtime.clone(), world.tenant.clone());
    let late =
        tokio::spawn(async move { runtime.instances().resume(&tenant, request).await.unwrap() });
    wait_ms(1_500).await;
    assert!(slow.table.is_frozen());
    let timer = node.due(world.now()).await.remove(0);
    let fence = async || {
        let head = node
            .query()
            .instance_head(&world.tenant, &id)
            .await
            .unwrap();
        head.unwrap().fence
    };
    let before = fence().await;
    for _ in 0..5 {
        assert!(is_later(&node.timers().fire(&timer).await.unwrap()));
        wait_ms(10_000).await;
    }
    assert_eq!(fence().await, before, "nothing is fenced while it may come");
    wait_ms(15_000).await;
    let dropped = node.timers().fire(&timer).await.unwrap();
    assert!(matches!(dropped, TimerOutcome::Stale), "{dropped:?}");
    assert_eq!(fence().await, before + 1);
    assert_eq!(node.due(i64::MAX / 2).await, []);
    // Thawed, its commit is refused; it begins anew, and what it opens now has a timer of its own.
    slow.table.thaw();
    let resumed = late.await.unwrap();
    assert!(matches!(resumed, ResumeOutcome::Resumed(_)), "{resumed:?}");
    assert_eq!(node.due(i64::MAX / 2).await.len(), 1);
    let stray = node.timers().fire(&timer).await.unwrap();
    assert!(matches!(stray, TimerOutcome::Stale), "another attempt's");
    wait_ms(1_500).await;
    assert_eq!(node.fire_due().await, 1);
    assert_eq!(node.sub_status(&id).await, "Finished");
    assert_eq!(written(&node, &world, &id).await, ["woken"]);
}

#[tokio::test(start_paused = true)]
async fn the_same_holds_for_an_instance_that_does_not_exist_yet() {
    let world = World::split();
    let node = world.node();
    node.publish(sequence("flow", &[delay("00:00:01"), write("woken")]))
        .await;
    let slow = world.freezing_node();
    let late = start(slow.runtime.clone(), world.tenant.clone(), "i");
    wait_ms(1_500).await;
    assert!(slow.table.is_frozen());
    let timer = node.due(world.now()).await.remove(0);
    assert!(is_later(&node.timers().fire(&timer).await.unwrap()));
    wait_ms(30_000).await;
    assert!(is_later(&node.timers().fire(&timer).await.unwrap()));
    assert_eq!(world.rows("WF#"), Vec::<String>::new());
    wait_ms(35_000).await;
    let dropped = node.timers().fire(&timer).await.unwrap();
    assert!(matches!(dropped, TimerOutcome::Stale), "{dropped:?}");
    assert_eq!(
        world.rows("WF#"),
        ["HEAD"],
        "a placeholder carries the fence"
    );
    assert_eq!(node.due(i64::MAX / 2).await, []);
    slow.table.thaw();
    let StartOutcome::Started(_) = late.await.unwrap() else {
        panic!("it takes the placeholder over");
    };
    let anew = node.due(i64::MAX / 2).await;
    assert_eq!(anew.len(), 1);
    assert_ne!(anew[0].wakes, timer.wakes);
    wait_ms(1_500).await;
    node.fire_due().await;
    assert_eq!(node.sub_status("i").await, "Finished");
    assert_eq!(written(&node, &world, "i").await, ["woken"]);
}

#[tokio::test(start_paused = true)]
async fn an_outbox_row_of_a_frozen_commit_is_not_delivered_before_it_and_dropped_once_it_cannot_come()
 {
    let world = World::split();
    let node = world.node();
    node.publish(sequence("child", &[write("ran")])).await;
    let dispatch = serde_json::json!({
        "type": "Elsa.DispatchWorkflow", "id": "d",
        "workflowDefinitionId": crate::flow::literal("String", "child"),
    });
    node.publish(sequence("flow", &[dispatch])).await;
    let slow = world.freezing_node();
    let late = start(slow.runtime.clone(), world.tenant.clone(), "i");
    wait_ms(20_000).await;
    assert!(slow.table.is_frozen());
    assert_eq!(world.rows("OUTBOX").len(), 1);
    let report = node.operations().sweep().await.unwrap();
    assert_eq!((report.delivered, report.left), (0, 1), "it may come");
    wait_ms(120_000).await;
    node.operations().sweep().await.unwrap();
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    assert_eq!(world.rows("WF#"), ["HEAD"], "no child, and a placeholder");
    slow.table.thaw();
    assert!(matches!(late.await.unwrap(), StartOutcome::Started(_)));
    settle().await;
    // The parent and one child.
    assert_eq!(world.rows("WF#"), ["HEAD", "HEAD"]);
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
}

/// An instance that waits for the event "right", opened for work.
async fn waiting(node: &Node, world: &World) -> (String, String, Box<Loaded>) {
    node.publish(sequence("flow", &[event("right"), write("end")]))
        .await;
    node.publish(sequence("other", &[event("wrong"), write("end")]))
        .await;
    let started = node.started("flow").await;
    let id = started.instance.id.to_string();
    let open = Open {
        instance_id: &id,
        owner: "a frozen node",
        now_ms: world.now(),
        reopens: false,
    };
    let Opened::Loaded(loaded) = node
        .store()
        .leases()
        .open(&world.tenant, &open)
        .await
        .unwrap()
    else {
        panic!("not opened");
    };
    (id.clone(), bookmark(&started), loaded)
}

#[tokio::test(start_paused = true)]
async fn a_row_of_a_lost_attempt_does_not_wake_another_bookmark_of_the_same_id() {
    let world = World::split();
    let node = world.node();
    let (id, bookmark_id, mut loaded) = waiting(&node, &world).await;
    let probe = node.started("other").await;
    let hash = probe.instance.bookmarks[0].hash().unwrap().to_owned();
    node.instances()
        .cancel(&world.tenant, probe.instance.id.as_str())
        .await
        .unwrap();
    // An attempt that puts a row under another event for a bookmark of that id, and freezes before its head.
    let commit = Commit {
        attempt: 7,
        now_ms: world.now(),
        state: loaded.state().clone(),
        summary: loaded.head().summary.clone(),
        bookmarks_added: vec![NewBookmark {
            id: bookmark_id.clone(),
            found_by: Some(FoundBy {
                hash,
                ..FoundBy::default()
            }),
        }],
        ..Commit::default()
    };
    let stamp = loaded.stamp(7, world.now());
    let commits = node.store().commits();
    let mut prepared = commits.prepare(&loaded, &commit).await.unwrap();
    let rows = || {
        world
            .rows("/STIM#")
            .into_iter()
            .filter(|row| row.starts_with("B#"))
            .count()
    };
    assert_eq!(rows(), 2);
    let wrong = || EventRequest {
        name: "wrong".into(),
        queued_ms: Some(0),
        waits: true,
        ..EventRequest::default()
    };
    let sent = node.stimuli().publish_event(&world.tenant, wrong()).await;
    assert_eq!(sent.unwrap().delivered.unwrap().reached, 0);
    assert_eq!(node.sub_status(&id).await, "Suspended");
    assert_eq!(rows(), 2, "its commit may come, so its row stays");
    // Nor does a timer of that attempt wake it, and once it is old it makes the commit impossible.
    let timer = Timer {
        tenant: world.tenant.clone(),
        due: dormouse_engine::time::Timestamp(world.now()),
        wakes: Wakes::Bookmark {
            instance: id.as_str().into(),
            bookmark: bookmark_id.as_str().into(),
            stamp: Some(stamp),
        },
    };
    assert!(is_later(&node.timers().fire(&timer).await.unwrap()));
    wait_ms(61_000).await;
    let sent = node.stimuli().publish_event(&world.tenant, wrong()).await;
    assert_eq!(sent.unwrap().delivered.unwrap().reached, 0);
    assert_eq!(rows(), 1, "the row is gone");
    let stale = node.timers().fire(&timer).await.unwrap();
    assert!(matches!(stale, TimerOutcome::Stale));
    let late = commits.commit_prepared(&mut loaded, &mut prepared).await;
    assert!(matches!(late.unwrap(), Committed::Lost(_)));
    assert_eq!(node.sub_status(&id).await, "Suspended");
    assert!(matches!(
        node.wake(&id, &bookmark_id).await,
        ResumeOutcome::Resumed(_)
    ));
}
