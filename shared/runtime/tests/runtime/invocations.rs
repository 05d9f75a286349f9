//! What an invocation's end, the hop budget and a bus that listens do to the use cases.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use dormouse_engine::journal::Event;
use dormouse_engine::time::Timestamp;
use dormouse_expressions::Expressions;
use dormouse_runtime::message::Task;
use dormouse_runtime::port::{Bus, LifecycleEvent, PortError, Ports, Queue, TaskRequest};
use dormouse_runtime::{
    Delivered, EventRequest, Message, Replay, ResumeOutcome, ResumeRequest, Runtime, RuntimeConfig,
    StartOutcome, StartRequest,
};
use serde_json::{Value, json};

use crate::flow::{event, event_trigger, literal, publish, sequence, write};
use crate::world::{Node, World, bookmark, settle, wait_ms};

/// Keeps messages until the test hands them in.
#[derive(Default)]
struct Kept(Mutex<Vec<Message>>);

#[async_trait]
impl Queue for Kept {
    async fn send(&self, message: &Message, _delay_ms: u64) -> Result<(), PortError> {
        self.0.lock().unwrap().push(message.clone());
        Ok(())
    }
}

/// Remembers what it is told.
#[derive(Default)]
struct Told(Mutex<Vec<LifecycleEvent>>);

#[async_trait]
impl Bus for Told {
    async fn request_task(&self, _request: &TaskRequest) -> Result<(), PortError> {
        Ok(())
    }

    fn hears_lifecycle(&self) -> bool {
        true
    }

    async fn tell(&self, event: &LifecycleEvent) -> Result<(), PortError> {
        self.0.lock().unwrap().push(event.clone());
        Ok(())
    }
}

/// A function of 30 seconds over the node's table, and its queue.
fn function(node: &Node) -> (Runtime, Arc<Kept>) {
    let queue = Arc::new(Kept::default());
    let ports = Ports {
        queue: Some(queue.clone()),
        ..node.ports().clone()
    };
    let config = RuntimeConfig::function("function", 30_000);
    let expressions = Arc::new(Expressions::default());
    let runtime = Runtime::new(node.store().clone(), ports, expressions, config);
    (runtime, queue)
}

fn call() -> Value {
    json!({ "type": "Elsa.SendHttpRequest", "url": literal("Uri", "http://example.test/") })
}

async fn start(runtime: &Runtime, world: &World) -> dormouse_runtime::BurstReport {
    let request = StartRequest::new(dormouse_runtime::DefinitionHandle::published("flow"));
    match runtime
        .instances()
        .start(&world.tenant, request)
        .await
        .unwrap()
    {
        StartOutcome::Started(report) => *report,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_no_longer_fits_is_left_to_the_next_invocation() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[call(), write("end")]))
        .await;
    let (function, queue) = function(&node);
    for left_ms in [0, -5_000] {
        let ends = Timestamp(world.now() + left_ms);
        let report = start(&function.until(ends), &world).await;
        assert!(report.goes_on, "{left_ms}");
        assert_eq!(world.web.requests.lock().unwrap().len(), 0, "{left_ms}");
        let id = report.instance.id.to_string();
        let messages: Vec<_> = queue.0.lock().unwrap().drain(..).collect();
        let [message] = &messages[..] else {
            panic!("one message goes on with it");
        };
        assert!(matches!(
            message.task,
            Task::Continue { made_way: true, .. }
        ));
        assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());

        let delivered = function.delivery().deliver(message).await.unwrap();
        assert_eq!(delivered, Delivered::Done);
        assert_eq!(node.sub_status(&id).await, "Finished");
        assert_eq!(world.web.requests.lock().unwrap().drain(..).count(), 1);
        // Delivered twice it changes nothing.
        function.delivery().deliver(message).await.unwrap();
        assert_eq!(world.web.requests.lock().unwrap().len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cut_off_is_made_again_under_the_same_key() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[call(), write("end")]))
        .await;
    let (function, queue) = function(&node);
    let ends = Timestamp(world.now() + 15);
    let report = start(&function.until(ends), &world).await;
    assert!(report.goes_on);
    let message = queue.0.lock().unwrap().remove(0);
    assert_eq!(
        function.delivery().deliver(&message).await.unwrap(),
        Delivered::Done
    );
    let id = report.instance.id.as_str();
    assert_eq!(node.sub_status(id).await, "Finished");
    let requests = world.web.requests.lock().unwrap();
    let keys: Vec<_> = requests.iter().map(|r| &r.idempotency_key).collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
}

#[tokio::test(start_paused = true)]
async fn a_lease_outlives_its_invocation_by_seconds_only() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), call(), write("end")]))
        .await;
    let report = node.started("flow").await;
    let (function, _queue) = function(&node);
    let killed = function.until(Timestamp(world.now() + 1_000));
    let id = report.instance.id.as_str();
    let request = ResumeRequest::bookmark(id, bookmark(&report), serde_json::Map::new());
    // Killed in the middle of the call: the lease is left behind.
    let resume = killed.instances().resume(&world.tenant, request);
    let cut_off = tokio::time::timeout(Duration::from_millis(20), resume).await;
    assert!(cut_off.is_err());
    wait_ms(7_000).await;
    let task = Task::Continue {
        instance: id.into(),
        activities: 0,
        made_way: false,
    };
    let message = Message::new("x", world.tenant.clone(), task);
    let hurried = function.until(Timestamp(world.now() + 20_000));
    let begun = world.now();
    assert_eq!(
        hurried.delivery().deliver(&message).await.unwrap(),
        Delivered::Done
    );
    assert_eq!(node.sub_status(id).await, "Finished");
    assert!(world.now() - begun < 1_000, "it waited for the lease");
}

#[tokio::test(start_paused = true)]
async fn an_event_for_one_instance_goes_by_message_only_if_it_cannot_be_delivered_now() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let (function, queue) = function(&node);
    let free = node.started("flow").await.instance.id.to_string();
    let held = node.started("flow").await.instance.id.to_string();
    let to = |id: &str| EventRequest {
        name: "go".into(),
        event_id: Some(format!("to {id}")),
        instance_id: Some(id.to_owned()),
        ..EventRequest::default()
    };
    let invocation = function.until(Timestamp(world.now() + 5_000));
    let sent = invocation
        .stimuli()
        .publish_event(&world.tenant, to(&free))
        .await;
    assert_eq!(sent.unwrap().delivered, None, "the caller did not ask");
    assert_eq!(node.sub_status(&free).await, "Finished");
    assert!(queue.0.lock().unwrap().is_empty());

    node.hold(&held, 20_000).await;
    let sent = invocation
        .stimuli()
        .publish_event(&world.tenant, to(&held))
        .await;
    assert!(sent.is_ok(), "{sent:?}");
    assert_eq!(node.sub_status(&held).await, "Suspended");
    let message = queue.0.lock().unwrap().remove(0);
    wait_ms(30_000).await;
    let later = function.until(Timestamp(world.now() + 30_000));
    for _ in 0..2 {
        let delivered = later.delivery().deliver(&message).await.unwrap();
        assert_eq!(delivered, Delivered::Done);
    }
    assert_eq!(node.sub_status(&held).await, "Finished");
    let lines = node.query().journal(&world.tenant, &held, 0, 100).await;
    let lines = lines.unwrap().unwrap().lines.into_iter();
    let ends = lines.filter(|line| line.activity_id == "end" && line.event == Event::Completed);
    assert_eq!(ends.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn workflows_that_set_each_other_off_are_cut_off_by_the_hop_budget() {
    let world = World::new();
    let node = world.node_with(|config| config.hops_max = 5);
    node.publish(sequence("flow", &[event_trigger("go"), publish("go")]))
        .await;
    let event = EventRequest {
        name: "go".into(),
        ..EventRequest::default()
    };
    node.stimuli()
        .publish_event(&world.tenant, event)
        .await
        .unwrap();
    settle().await;
    let letters = node
        .dead_letters()
        .list(&world.tenant, 10, None)
        .await
        .unwrap();
    let [letter] = letters.letters.as_slice() else {
        panic!("{letters:?}");
    };
    assert!(letter.reason.contains("followed from each other"));
    let heads = world.rows("WF#").into_iter().filter(|row| row == "HEAD");
    assert_eq!(heads.count(), 6);
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
    // Whoever replays it gives it a new budget.
    let id = letter.id.clone();
    let replayed = node.dead_letters().replay(&world.tenant, &id, false).await;
    assert_eq!(replayed.unwrap(), Replay::Done);
    settle().await;
    let heads = world.rows("WF#").into_iter().filter(|row| row == "HEAD");
    assert_eq!(heads.count(), 12);
}

#[tokio::test(start_paused = true)]
async fn a_burst_that_cannot_go_on_becomes_a_failure_of_its_instance() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go")])).await;
    let id = node.started("flow").await.instance.id.to_string();
    let task = Task::Continue {
        instance: id.as_str().into(),
        activities: 0,
        made_way: true,
    };
    let message = Message::new("x", world.tenant.clone(), task);
    node.dead_letters()
        .give_up(&message, "nobody can go on with it")
        .await
        .unwrap();
    assert_eq!(node.sub_status(&id).await, "Faulted");
    let letters = node
        .dead_letters()
        .list(&world.tenant, 10, None)
        .await
        .unwrap();
    assert_eq!(letters.letters.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_bus_that_listens_hears_of_each_change_once() {
    let world = World::new();
    let node = world.node();
    let bus = Arc::new(Told::default());
    let ports = Ports {
        bus: Some(bus.clone()),
        ..node.ports().clone()
    };
    let expressions = Arc::new(Expressions::default());
    let config = RuntimeConfig::server("told");
    let told = Runtime::new(node.store().clone(), ports, expressions, config);
    node.publish(sequence("flow", &[write("a"), event("go"), write("b")]))
        .await;
    let report = start(&told, &world).await;
    settle().await;
    let request = ResumeRequest::bookmark(
        report.instance.id.as_str(),
        bookmark(&report),
        serde_json::Map::new(),
    );
    let resumed = told
        .instances()
        .resume(&world.tenant, request)
        .await
        .unwrap();
    assert!(matches!(resumed, ResumeOutcome::Resumed(_)));
    settle().await;
    let events = bus.0.lock().unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["InstanceStarted", "InstanceSuspended", "InstanceFinished"]
    );
    let ids: std::collections::BTreeSet<_> = events.iter().map(|event| &event.id).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(events[0].workflow_definition_id, "flow");
    assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
}
