//! Events: before and after their bookmarks, to many, to one, twice.

use dormouse_engine::activity::event::{EVENT, hashed};
use dormouse_engine::time::Timestamp;
use dormouse_runtime::message::{Message, Task};
use dormouse_runtime::{
    DefinitionHandle, EventOutcome, EventRequest, Replay, StartOutcome, StartRequest,
    StimulusRequest,
};
use serde_json::{Map, json};

use crate::flow::{delay, event, event_trigger, publish, sequence, write};
use crate::world::{Node, World, settle, wait_ms};

fn named(name: &str) -> EventRequest {
    EventRequest {
        name: name.into(),
        payload: json!({ "n": 1 }),
        waits: true,
        ..EventRequest::default()
    }
}

async fn send(node: &Node, world: &World, event: EventRequest) -> EventOutcome {
    let outcome = node
        .stimuli()
        .publish_event(&world.tenant, event)
        .await
        .unwrap();
    settle().await;
    outcome
}

/// The events that are kept.
fn kept(world: &World) -> Vec<String> {
    world.rows("/QUEUE#")
}

async fn start_with(node: &Node, correlation: &str) -> String {
    let request = StartRequest {
        correlation_id: Some(correlation.into()),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    };
    match node.begin(request).await {
        StartOutcome::Started(report) => report.instance.id.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_wakes_everybody_who_waits_for_it_once() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), event("go"), write("end")]))
        .await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(node.started("flow").await.instance.id.to_string());
    }
    let request = EventRequest {
        event_id: Some("e-1".into()),
        ..named("go")
    };
    let outcome = send(&node, &world, request.clone()).await;
    let mut resumed = outcome.delivered.unwrap().resumed;
    resumed.sort();
    ids.sort();
    assert_eq!(resumed, ids);
    // Each waits for the same event again. The same one does not wake it.
    let again = send(&world.node(), &world, request).await;
    assert_eq!(again.delivered.unwrap().resumed.len(), 20);
    for id in &ids {
        assert_eq!(node.sub_status(id).await, "Suspended");
    }
    send(&node, &world, named("go")).await;
    for id in &ids {
        assert_eq!(node.sub_status(id).await, "Finished");
    }
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_event_before_its_bookmark_is_kept_for_one_receiver() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let outcome = send(&node, &world, named("go")).await;
    assert!(outcome.delivered.unwrap().queued);
    let first = node.started("flow").await.instance.id.to_string();
    settle().await;
    assert_eq!(node.sub_status(&first).await, "Finished");
    let second = node.started("flow").await.instance.id.to_string();
    settle().await;
    assert_eq!(node.sub_status(&second).await, "Suspended");
}

#[tokio::test(start_paused = true)]
async fn a_workflow_that_publishes_an_event_to_itself_does_not_wait_for_itself() {
    let world = World::new();
    let node = world.node();
    let both = json!({ "type": "Elsa.Parallel", "id": "both", "activities": [event("go"), publish("go")] });
    node.publish(sequence("flow", &[both, write("end")])).await;
    let began = world.now();
    let id = node.started("flow").await.instance.id.to_string();
    settle().await;
    assert_eq!(node.sub_status(&id).await, "Finished");
    assert!(world.now() - began < 1_000, "it waited for its own lease");
}

#[tokio::test(start_paused = true)]
async fn an_event_and_a_bookmark_that_cross_meet() {
    for _ in 0..20 {
        let world = World::new();
        let (one, other) = (world.node(), world.node());
        one.publish(sequence("flow", &[event("go"), write("end")]))
            .await;
        let started = one.started("flow");
        let sent = other.stimuli().publish_event(&world.tenant, named("go"));
        let (started, sent) = tokio::join!(started, sent);
        sent.unwrap();
        settle().await;
        assert_eq!(
            one.sub_status(started.instance.id.as_str()).await,
            "Finished"
        );
        assert_eq!(world.rows("STIM"), Vec::<String>::new());
        assert_eq!(kept(&world), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_nobody_wants_becomes_a_dead_letter_and_can_be_replayed() {
    let world = World::new();
    let node = world.node();
    let request = EventRequest {
        queued_ms: Some(30_000),
        ..named("go")
    };
    send(&node, &world, request).await;
    let report = node.sweep_later().await;
    assert_eq!(report.expired, 1);
    let letters = node
        .dead_letters()
        .list(&world.tenant, 10, None)
        .await
        .unwrap();
    assert_eq!(letters.letters.len(), 1);
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let id = node.started("flow").await.instance.id.to_string();
    let letter = letters.letters[0].id.clone();
    let replay = || node.dead_letters().replay(&world.tenant, &letter, false);
    assert_eq!(replay().await.unwrap(), Replay::Done);
    settle().await;
    assert_eq!(node.sub_status(&id).await, "Finished");
    assert_eq!(replay().await.unwrap(), Replay::Missing);
}

#[tokio::test(start_paused = true)]
async fn an_event_of_which_nobody_knows_any_more_who_has_had_it_is_replayed_on_demand_only() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), event("go")]))
        .await;
    let id = node.started("flow").await.instance.id.to_string();
    let stimulus = StimulusRequest {
        at: Timestamp(world.now()),
        ..StimulusRequest::new("e", EVENT, &hashed("go"), Map::new())
    };
    node.stimuli()
        .stimulate(&world.tenant, &stimulus)
        .await
        .unwrap();
    let task = Task::Stimulate { stimulus };
    let message = Message::new("event/e", world.tenant.clone(), task);
    let has_had_one = async || assert_eq!(node.sub_status(&id).await, "Suspended");
    let buried = async || {
        node.dead_letters()
            .give_up(&message, "tried too often")
            .await
            .unwrap();
        let letters = node
            .dead_letters()
            .list(&world.tenant, 10, None)
            .await
            .unwrap();
        letters.letters[0].id.clone()
    };
    // Within a day the instance is known to have had it.
    let letter = buried().await;
    let replay = |may_repeat| {
        node.dead_letters()
            .replay(&world.tenant, &letter, may_repeat)
    };
    assert_eq!(replay(false).await.unwrap(), Replay::Done);
    settle().await;
    has_had_one().await;
    let letter = buried().await;
    let replay = |may_repeat| {
        node.dead_letters()
            .replay(&world.tenant, &letter, may_repeat)
    };
    tokio::time::advance(std::time::Duration::from_hours(25)).await;
    let stimulus = "e".to_owned();
    assert_eq!(replay(false).await.unwrap(), Replay::Forgotten { stimulus });
    has_had_one().await;
    assert_eq!(replay(true).await.unwrap(), Replay::Done);
}

#[tokio::test(start_paused = true)]
async fn an_event_with_a_correlation_id_wakes_only_those_who_have_it() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let (ours, theirs) = (
        start_with(&node, "ours").await,
        start_with(&node, "theirs").await,
    );
    let request = EventRequest {
        correlation_id: Some("ours".into()),
        ..named("go")
    };
    send(&node, &world, request.clone()).await;
    assert_eq!(node.sub_status(&ours).await, "Finished");
    assert_eq!(node.sub_status(&theirs).await, "Suspended");
    // Kept with its whole filter.
    send(&node, &world, request).await;
    let more_of_theirs = start_with(&node, "theirs").await;
    settle().await;
    assert_eq!(node.sub_status(&more_of_theirs).await, "Suspended");
    let more_of_ours = start_with(&node, "ours").await;
    settle().await;
    assert_eq!(node.sub_status(&more_of_ours).await, "Finished");
}

#[tokio::test(start_paused = true)]
async fn an_event_starts_what_it_triggers_once() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence(
        "flow",
        &[event_trigger("order"), write("started")],
    ))
    .await;
    let request = EventRequest {
        event_id: Some("order-1".into()),
        ..named("order")
    };
    let first = send(&node, &world, request.clone()).await;
    let second = send(&world.node(), &world, request).await;
    assert_eq!(first.delivered.clone().unwrap().started.len(), 1);
    assert_eq!(first.delivered, second.delivered);
    assert_eq!(world.rows("WF#"), ["HEAD"]);
    // A publish replaces the trigger; the old one does not answer beside it.
    node.publish(sequence("flow", &[event_trigger("order"), write("anew")]))
        .await;
    let third = send(&node, &world, named("order")).await;
    assert_eq!(third.delivered.unwrap().started.len(), 1);
    node.definitions()
        .retract(&world.tenant, "flow")
        .await
        .unwrap();
    let fourth = send(&node, &world, named("order")).await;
    assert!(fourth.delivered.unwrap().queued);
}

#[tokio::test(start_paused = true)]
async fn an_activity_publishes_after_its_commit() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("receiver", &[event("done"), write("heard")]))
        .await;
    node.publish(sequence("sender", &[publish("done"), event("never")]))
        .await;
    let receiver = node.started("receiver").await.instance.id.to_string();
    node.started("sender").await;
    settle().await;
    assert_eq!(node.sub_status(&receiver).await, "Finished");
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_event_for_one_instance_wakes_no_other() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let (one, other) = (start_with(&node, "c").await, start_with(&node, "c").await);
    let request = EventRequest {
        instance_id: Some(one.clone()),
        ..named("go")
    };
    send(&node, &world, request).await;
    assert_eq!(node.sub_status(&one).await, "Finished");
    assert_eq!(node.sub_status(&other).await, "Suspended");
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_delivered_late_again_finds_that_it_was_taken() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    node.publish(sequence(
        "later",
        &[delay("00:00:01"), event("go"), write("end")],
    ))
    .await;
    let request = EventRequest {
        event_id: Some("e-1".into()),
        waits: false,
        ..named("go")
    };
    // The sender dies when the event is kept, before it forgets that it had to deliver it.
    let dying = world.dying_node(4, false);
    let (runtime, tenant) = (dying.runtime.clone(), world.tenant.clone());
    tokio::spawn(async move { runtime.stimuli().publish_event(&tenant, request).await });
    settle().await;
    assert!(dying.table.is_dead());
    assert_eq!(world.rows("OUTBOX").len(), 1);
    let taker = node.started("flow").await.instance.id.to_string();
    let waiting = node.started("later").await.instance.id.to_string();
    settle().await;
    assert_eq!(node.sub_status(&taker).await, "Finished");
    wait_ms(1_000).await;
    node.fire_due().await;
    node.sweep_later().await;
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    assert_eq!(node.sub_status(&waiting).await, "Suspended");
    assert_eq!(kept(&world), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_event_that_was_delivered_and_comes_again_wakes_nobody_else() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let first = node.started("flow").await.instance.id.to_string();
    let request = EventRequest {
        event_id: Some("e-1".into()),
        waits: true,
        ..named("go")
    };
    // Accepted, looked up twice, noted, loaded with its definition, committed; then the sender's node dies, and the row
    // stays.
    let dying = world.dying_node(7, false);
    let (runtime, tenant) = (dying.runtime.clone(), world.tenant.clone());
    let sent = request.clone();
    tokio::spawn(async move { runtime.stimuli().publish_event(&tenant, sent).await });
    settle().await;
    assert!(dying.table.is_dead());
    assert_eq!(node.sub_status(&first).await, "Finished");
    assert_eq!(world.rows("OUTBOX").len(), 1);
    // Whoever begins to wait now has nothing to do with it: not when the row is delivered again, ...
    let second = node.started("flow").await.instance.id.to_string();
    node.sweep_later().await;
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    // ... and not when the sender, who has no answer, sends it again.
    send(&node, &world, request).await;
    assert_eq!(node.sub_status(&second).await, "Suspended");
    let third = node.started("flow").await.instance.id.to_string();
    settle().await;
    assert_eq!(node.sub_status(&third).await, "Suspended");
    assert_eq!(kept(&world), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_receiver_was_woken_by_another_is_kept_for_the_next() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let first = node.started("flow").await.instance.id.to_string();
    let of = |id: &str| EventRequest {
        event_id: Some(id.into()),
        waits: true,
        ..named("go")
    };
    // One dies between its note and its read of the head; another one comes in between.
    let dying = world.dying_node(4, false);
    let (runtime, tenant, sent) = (dying.runtime.clone(), world.tenant.clone(), of("e-1"));
    tokio::spawn(async move { runtime.stimuli().publish_event(&tenant, sent).await });
    settle().await;
    assert!(dying.table.is_dead());
    send(&node, &world, of("e-2")).await;
    assert_eq!(node.sub_status(&first).await, "Finished");
    node.sweep_later().await;
    assert_eq!(kept(&world).len(), 1);
    let second = node.started("flow").await.instance.id.to_string();
    settle().await;
    assert_eq!(node.sub_status(&second).await, "Finished");
}
