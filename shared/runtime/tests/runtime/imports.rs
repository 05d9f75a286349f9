//! Instances that come back: timers, bursts that were cut off, claims, and what is left of the life before.

use dormouse_runtime::{
    DefinitionHandle, DeleteOutcome, Exported, ImportOutcome, InstanceFile, ResumeOutcome,
    StartOutcome, StartRequest,
};
use serde_json::json;

use crate::flow::{delay, event, sequence, with_options, write};
use crate::world::{Node, World, bookmark, settle, wait_ms};

async fn export(node: &Node, world: &World, id: &str) -> InstanceFile {
    let exported = node.instances().export(&world.tenant, id, 1 << 20).await;
    match exported.unwrap() {
        Exported::File(file) => *file,
        other => panic!("{other:?}"),
    }
}

async fn delete(node: &Node, world: &World, id: &str) {
    let deleted = node.instances().delete(&world.tenant, id).await.unwrap();
    assert_eq!(deleted, DeleteOutcome::Deleted);
    settle().await;
}

async fn import(node: &Node, world: &World, file: &InstanceFile) -> ImportOutcome {
    let outcome = node.instances().import(&world.tenant, file).await.unwrap();
    settle().await;
    outcome
}

#[tokio::test(start_paused = true)]
async fn a_timer_of_an_instance_that_came_back_fires_in_time_or_at_once() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[delay("00:05:00"), write("woken")]))
        .await;
    for (gone_ms, fires_later) in [(1_000, true), (600_000, false)] {
        let id = node.started("flow").await.instance.id.to_string();
        let file = export(&node, &world, &id).await;
        delete(&node, &world, &id).await;
        assert_eq!(world.rows("~/TIMER").len(), 0);
        wait_ms(gone_ms).await;
        let outcome = import(&node, &world, &file).await;
        assert!(matches!(outcome, ImportOutcome::Imported(_)), "{outcome:?}");
        if fires_later {
            assert_eq!(node.fire_due().await, 0);
            assert_eq!(node.sub_status(&id).await, "Suspended");
            wait_ms(300_000).await;
        }
        assert_eq!(node.fire_due().await, 1);
        assert_eq!(node.sub_status(&id).await, "Finished");
        assert_eq!(world.rows("~/TIMER").len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_of_the_life_before_is_taken_for_the_new_one() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence(
        "flow",
        &[event("a"), delay("00:05:00"), write("woken")],
    ))
    .await;
    let report = node.started("flow").await;
    let id = report.instance.id.to_string();
    let early = export(&node, &world, &id).await;
    // It goes on after the export, so its life has more commits than the file knows of.
    node.wake(&id, &bookmark(&report)).await;
    let stray = node.due(i64::MAX / 2).await.remove(0);
    let before = node
        .query()
        .instance_head(&world.tenant, &id)
        .await
        .unwrap()
        .unwrap();
    delete(&node, &world, &id).await;
    let outcome = import(&node, &world, &early).await;
    let ImportOutcome::Imported(head) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(
        head.commit > before.commit && head.fence > before.fence,
        "{head:?}"
    );
    // A message that was on its way finds nothing to do, and does not wait for a commit that never comes.
    wait_ms(300_000).await;
    let fired = node.timers().fire(&stray).await.unwrap();
    assert!(format!("{fired:?}").starts_with("Stale"), "{fired:?}");
    assert_eq!(node.sub_status(&id).await, "Suspended");
    let woken = node.wake(&id, &bookmark(&report)).await;
    assert!(matches!(woken, ResumeOutcome::Resumed(_)), "{woken:?}");
    // A start that is delivered again finds it.
    let again = StartRequest {
        instance_id: Some(id.clone()),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    };
    assert!(matches!(
        node.begin(again).await,
        StartOutcome::AlreadyStarted(_)
    ));
}

#[tokio::test(start_paused = true)]
async fn what_is_being_deleted_comes_back_when_it_is_gone() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("a")])).await;
    let id = node.started("flow").await.instance.id.to_string();
    let file = export(&node, &world, &id).await;
    node.instances().delete(&world.tenant, &id).await.unwrap();
    // Its cleaning is under way.
    let outcome = node.instances().import(&world.tenant, &file).await.unwrap();
    assert!(matches!(outcome, ImportOutcome::Busy), "{outcome:?}");
    settle().await;
    let against = node
        .instances()
        .check_import(&world.tenant, &file)
        .await
        .unwrap();
    assert!(against.is_none(), "{against:?}");
    import(&node, &world, &file).await;
    let again = import(&node, &world, &file).await;
    assert!(matches!(again, ImportOutcome::Exists), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn a_singleton_does_not_come_back_beside_another() {
    let world = World::new();
    let node = world.node();
    let options = json!({ "activationStrategyType": "Elsa.Workflows.Activation.SingletonStrategy, Elsa.Workflows.Core" });
    node.publish(with_options("flow", &[event("a")], options))
        .await;
    let first = node.started("flow").await.instance.id.to_string();
    let file = export(&node, &world, &first).await;
    delete(&node, &world, &first).await;
    let second = node.started("flow").await.instance.id.to_string();
    let refused = import(&node, &world, &file).await;
    assert!(
        matches!(&refused, ImportOutcome::NotAllowed { holder } if *holder == second),
        "{refused:?}"
    );
    delete(&node, &world, &second).await;
    import(&node, &world, &file).await;
    let third = StartRequest::new(DefinitionHandle::published("flow"));
    let third = node.begin(third).await;
    assert!(
        matches!(third, StartOutcome::NotAllowed { .. }),
        "{third:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_burst_that_was_cut_off_goes_on_elsewhere() {
    let world = World::new();
    let node = world.node();
    let call = json!({ "type": "Elsa.SendHttpRequest", "url": crate::flow::literal("Uri", "http://example.test/") });
    node.publish(sequence("flow", &[call, write("end")])).await;
    // It dies in the call, after the commit that says it is to be made.
    let dying = world.dying_node(2, true);
    let request = StartRequest {
        instance_id: Some("i".into()),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    };
    let _dead = tokio::time::timeout(
        std::time::Duration::from_secs(1),
        dying.runtime.instances().start(&world.tenant, request),
    )
    .await;
    let file = export(&node, &world, "i").await;
    assert_eq!(node.sub_status("i").await, "Executing");
    let elsewhere = World::new();
    let there = elsewhere.node();
    let call = json!({ "type": "Elsa.SendHttpRequest", "url": crate::flow::literal("Uri", "http://example.test/") });
    there.publish(sequence("flow", &[call, write("end")])).await;
    import(&there, &elsewhere, &file).await;
    wait_ms(1_000).await;
    assert_eq!(there.sub_status("i").await, "Finished");
    assert_eq!(elsewhere.web.requests.lock().unwrap().len(), 1);
}
