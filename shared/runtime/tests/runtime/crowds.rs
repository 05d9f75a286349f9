//! Events among many who wait: page by page, and at the price of those who are to have them.

use async_trait::async_trait;
use dormouse_engine::activity::event::{EVENT, hashed};
use dormouse_engine::time::Timestamp;
use dormouse_expressions::Expressions;
use dormouse_runtime::message::Task;
use dormouse_runtime::port::{PortError, Ports, Queue};
use dormouse_runtime::{DefinitionHandle, StartRequest, StimulusRequest};
use dormouse_runtime::{Delivered, EventRequest, Message, Runtime, RuntimeConfig};
use dormouse_store::table::{Change, Condition, Durability, Key, Table, Value};
use dormouse_store::{MeteredTable, Store};
use serde_json::Map;
use std::sync::{Arc, Mutex};

use crate::crashes::written;
use crate::flow::{event, sequence, write};
use crate::world::{Node, World, settle};

/// Keeps what it is sent.
#[derive(Default)]
struct Sent(Mutex<Vec<Message>>);

#[async_trait]
impl Queue for Sent {
    async fn send(&self, message: &Message, _delay_ms: u64) -> Result<(), PortError> {
        self.0.lock().unwrap().push(message.clone());
        Ok(())
    }
}

impl Sent {
    fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn named(name: &str) -> EventRequest {
    EventRequest {
        name: name.into(),
        event_id: Some("e-1".into()),
        queued_ms: Some(0),
        waits: true,
        ..EventRequest::default()
    }
}

/// Starts so many instances that wait for an event and then for a second one, each with a correlation id of its own;
/// answers their ids.
async fn crowd(node: &Node, count: usize, second: &str) -> Vec<String> {
    node.publish(sequence(
        "flow",
        &[event("go"), write("woken"), event(second)],
    ))
    .await;
    let mut ids = Vec::new();
    for n in 0..count {
        let request = StartRequest {
            instance_id: Some(format!("i{n:04}")),
            correlation_id: Some(format!("c{n:04}")),
            ..StartRequest::new(DefinitionHandle::published("flow"))
        };
        node.begin(request).await;
        ids.push(format!("i{n:04}"));
    }
    settle().await;
    ids
}

#[tokio::test(start_paused = true)]
async fn an_event_for_hundreds_goes_on_page_by_page_by_message_and_wakes_each_once() {
    let world = World::new();
    let node = world.node();
    let ids = crowd(&node, 350, "end").await;
    let queue = Arc::new(Sent::default());
    let ports = Ports {
        queue: Some(queue.clone()),
        ..node.ports().clone()
    };
    let expressions = Arc::new(Expressions::default());
    let config = RuntimeConfig::server("queued");
    let runtime = Runtime::new(node.store().clone(), ports, expressions, config);
    let sent = runtime
        .stimuli()
        .publish_event(&world.tenant, named("go"))
        .await;
    assert_eq!(sent.unwrap().delivered.unwrap().reached, 100);
    let mut woken = vec![100];
    loop {
        let messages = queue.take();
        let on: Vec<_> = messages
            .iter()
            .filter(|message| matches!(message.task, Task::StimulateOn { .. }))
            .collect();
        if on.is_empty() {
            break;
        }
        assert_eq!(on.len(), 1, "one message hands on");
        assert_eq!(messages.len(), 1);
        // Delivered twice, as a queue may: nobody has it twice.
        assert_eq!(
            runtime.delivery().deliver(on[0]).await.unwrap(),
            Delivered::Done
        );
        let mut count = 0;
        for id in &ids {
            count += written(&node, &world, id).await.len();
        }
        woken.push(count);
    }
    assert_eq!(woken, [100, 200, 300, 350]);
    for id in &ids {
        assert_eq!(written(&node, &world, id).await, ["woken"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_delivered_twice_wakes_nobody_twice() {
    let world = World::new();
    let node = world.node();
    let ids = crowd(&node, 120, "go").await;
    let queue = Arc::new(Sent::default());
    let ports = Ports {
        queue: Some(queue.clone()),
        ..node.ports().clone()
    };
    let config = RuntimeConfig::server("queued");
    let runtime = Runtime::new(node.store().clone(), ports, Arc::default(), config);
    runtime
        .stimuli()
        .publish_event(&world.tenant, named("go"))
        .await
        .unwrap();
    let [on] = &queue.take()[..] else {
        panic!("not one message");
    };
    for _ in 0..3 {
        assert_eq!(
            runtime.delivery().deliver(on).await.unwrap(),
            Delivered::Done
        );
    }
    runtime
        .stimuli()
        .publish_event(&world.tenant, named("go"))
        .await
        .unwrap();
    for id in &ids {
        assert_eq!(written(&node, &world, id).await, ["woken"], "{id}");
    }
}

/// A runtime over the world's table that counts what it spends.
fn metered(world: &World, node: &Node) -> (Runtime, Arc<MeteredTable>) {
    let table = Arc::new(MeteredTable::new(world.memory.clone()));
    let store = Store::new(table.clone(), world.layout.clone());
    let config = RuntimeConfig::server("metered");
    let runtime = Runtime::new(store, node.ports().clone(), Arc::default(), config);
    (runtime, table)
}

#[tokio::test(start_paused = true)]
async fn an_event_to_one_among_two_thousand_costs_what_it_costs_among_two() {
    let mut spent = Vec::new();
    for count in [2, 2_000] {
        let world = World::new();
        let node = world.node();
        let ids = crowd(&node, count, "go").await;
        let (runtime, table) = metered(&world, &node);
        // It has loaded the definition already.
        let warm = EventRequest {
            event_id: Some("warm".into()),
            instance_id: Some(ids[1].clone()),
            ..named("go")
        };
        runtime
            .stimuli()
            .publish_event(&world.tenant, warm)
            .await
            .unwrap();
        settle().await;
        table.reset();
        let by_correlation = EventRequest {
            correlation_id: Some("c0000".into()),
            ..named("go")
        };
        let sent = runtime
            .stimuli()
            .publish_event(&world.tenant, by_correlation)
            .await;
        assert_eq!(sent.unwrap().delivered.unwrap().resumed, ["i0000"]);
        settle().await;
        let correlated = table.reset();
        assert_eq!(written(&node, &world, &ids[0]).await, ["woken"]);

        let by_instance = EventRequest {
            event_id: Some("e-2".into()),
            instance_id: Some(ids[0].clone()),
            ..named("go")
        };
        let sent = runtime
            .stimuli()
            .publish_event(&world.tenant, by_instance)
            .await;
        assert_eq!(sent.unwrap().delivered.unwrap().resumed, ["i0000"]);
        settle().await;
        let targeted = table.reset();
        assert_eq!(node.sub_status(&ids[0]).await, "Finished");
        assert_eq!(targeted.query.calls, 0, "its head tells what waits there");
        spent.push((correlated.read_units(), targeted.read_units()));
    }
    assert_eq!(spent[0], spent[1], "the crowd costs nothing");
    assert!(spent[1].0 <= 4.0, "{spent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_read_does_not_keep_an_event_from_the_others() {
    let world = World::new();
    let node = world.node();
    let ids = crowd(&node, 3, "end").await;
    let rows = world.memory.items().into_iter();
    let row = rows
        .map(|item| item.key)
        .find(|key| key.partition.contains("/STIM#") && key.sort.contains("i0001"))
        .unwrap();
    damage(&world, &row).await;
    let sent = node
        .stimuli()
        .publish_event(&world.tenant, named("go"))
        .await;
    assert_eq!(sent.unwrap().delivered.unwrap().reached, 2);
    for (id, lines) in [(&ids[0], 1), (&ids[1], 0), (&ids[2], 1)] {
        assert_eq!(written(&node, &world, id).await.len(), lines);
    }
    // It is reached by its head all the same.
    let to = EventRequest {
        instance_id: Some(ids[1].clone()),
        event_id: Some("e-2".into()),
        ..named("go")
    };
    node.stimuli()
        .publish_event(&world.tenant, to)
        .await
        .unwrap();
    assert_eq!(written(&node, &world, &ids[1]).await.len(), 1);
}

/// Overwrites the body of an item.
async fn damage(world: &World, key: &Key) {
    let rubbish = [Change::Set(
        "bo".into(),
        Value::B(bytes::Bytes::from_static(b"?")),
    )];
    let written = world
        .memory
        .update(key, &rubbish, &Condition::Exists, Durability::Durable)
        .await;
    assert!(matches!(
        written,
        Ok(dormouse_store::table::Updated::New(_))
    ));
}

#[tokio::test(start_paused = true)]
async fn a_recipient_of_a_delivery_that_was_cut_off_is_reached_however_many_wait_by_then() {
    let world = World::new();
    let node = world.node();
    node.publish(sequence("flow", &[event("go"), write("end")]))
        .await;
    let begin = async |id: String| {
        let request = StartRequest {
            instance_id: Some(id),
            ..StartRequest::new(DefinitionHandle::published("flow"))
        };
        node.begin(request).await;
    };
    begin("z".into()).await;
    let stimulus = StimulusRequest {
        at: Timestamp(world.now()),
        ..StimulusRequest::new("e", EVENT, &hashed("go"), Map::new())
    };
    // It looks for triggers and bookmarks, notes the one, and dies.
    let dying = world.dying_node(3, false);
    let (runtime, tenant, sent) = (
        dying.runtime.clone(),
        world.tenant.clone(),
        stimulus.clone(),
    );
    tokio::spawn(async move { runtime.stimuli().stimulate(&tenant, &sent).await });
    settle().await;
    assert!(dying.table.is_dead());
    assert_eq!(world.rows("/TAKEN#").len(), 1, "it has noted nobody");
    for n in 0..150 {
        begin(format!("a{n:03}")).await;
    }
    let outcome = node.stimuli().stimulate(&world.tenant, &stimulus).await;
    assert_eq!(outcome.unwrap().resumed, ["z"]);
    assert_eq!(node.sub_status("z").await, "Finished");
    assert_eq!(node.sub_status("a000").await, "Suspended");
    let again = node.stimuli().stimulate(&world.tenant, &stimulus).await;
    assert_eq!(again.unwrap().resumed, ["z"]);
}
