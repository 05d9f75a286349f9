//! A node dies at every one of its calls to the table, before and after the call happens. Another node sweeps:
//! nothing is lost, nothing is done twice, nothing is left.

use dormouse_engine::journal::Event;
use dormouse_runtime::{DefinitionHandle, EventRequest, ResumeRequest, StartOutcome, StartRequest};
use serde_json::{Map, Value, json};

use crate::flow::{cron, delay, event, event_trigger, publish, sequence, write};
use crate::world::{Node, World, settle, wait_ms};

/// At most so many calls does one thing take.
const CALLS_MAX: i64 = 60;

/// Kills a node at each of its calls while it does something, and checks what another one makes of it.
pub(crate) async fn at_every_call<Do, Done, Check, Checked>(
    prepare: impl AsyncFn(&World) -> String,
    act: Do,
    check: Check,
) where
    Do: Fn(Node, String) -> Done,
    Done: Future<Output = ()> + Send + 'static,
    Check: Fn(World, Node, String) -> Checked,
    Checked: Future<Output = ()>,
{
    at_every_call_within(5, prepare, act, check).await;
}

/// The same, where the node has so many milliseconds.
pub(crate) async fn at_every_call_within<Do, Done, Check, Checked>(
    ms: u64,
    prepare: impl AsyncFn(&World) -> String,
    act: Do,
    check: Check,
) where
    Do: Fn(Node, String) -> Done,
    Done: Future<Output = ()> + Send + 'static,
    Check: Fn(World, Node, String) -> Checked,
    Checked: Future<Output = ()>,
{
    for last_happens in [false, true] {
        for at in 0.. {
            assert!(at < CALLS_MAX, "it never came to its end");
            let world = World::new();
            let id = prepare(&world).await;
            let node = world.dying_node(at, last_happens);
            let table = node.table.clone();
            let acting = tokio::spawn(act(node, id.clone()));
            wait_ms(ms).await;
            let died = table.is_dead();
            acting.abort();
            let healer = world.node();
            for _ in 0..3 {
                healer.fire_due().await;
                healer.sweep_later().await;
            }
            check(world, healer, id).await;
            if !died {
                break;
            }
        }
    }
}

/// What an instance wrote, by the activities' ids.
pub(crate) async fn written(node: &Node, world: &World, id: &str) -> Vec<String> {
    let journal = node
        .query()
        .journal(&world.tenant, id, 0, 10_000)
        .await
        .unwrap();
    let lines = journal.unwrap_or_default().lines.into_iter();
    let started =
        lines.filter(|line| line.event == Event::Started && line.activity_type == "Elsa.WriteLine");
    started.map(|line| line.activity_id).collect()
}

#[tokio::test(start_paused = true)]
async fn a_start_under_a_key_happens_once_wherever_it_is_cut_off() {
    let request = || StartRequest {
        idempotency_key: Some("k".into()),
        ..StartRequest::new(DefinitionHandle::published("flow"))
    };
    at_every_call(
        async |world: &World| {
            let flow = sequence(
                "flow",
                &[write("a"), publish("x"), delay("00:00:01"), write("b")],
            );
            world.node().publish(flow).await;
            String::new()
        },
        |node, _| async move {
            node.begin(request()).await;
        },
        |world, node, _| async move {
            // The caller got no answer, and asks again.
            let id = match node.begin(request()).await {
                StartOutcome::Started(report) => report.instance.id.to_string(),
                StartOutcome::AlreadyStarted(head) => head.instance_id,
                other => panic!("{other:?}"),
            };
            wait_ms(2_000).await;
            node.fire_due().await;
            assert_eq!(node.sub_status(&id).await, "Finished");
            assert_eq!(written(&node, &world, &id).await, ["a", "b"]);
            assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
            assert_eq!(
                world
                    .rows("WF#")
                    .iter()
                    .filter(|row| *row == "HEAD")
                    .count(),
                1
            );
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_resume_happens_once_wherever_it_is_cut_off() {
    at_every_call(
        async |world: &World| {
            let flow = sequence(
                "flow",
                &[event("go"), write("a"), publish("heard"), write("b")],
            );
            let node = world.node();
            node.publish(sequence(
                "listener",
                &[event_trigger("heard"), write("heard")],
            ))
            .await;
            node.publish(flow).await;
            let started = node.started("flow").await;
            settle().await;
            format!(
                "{} {}",
                started.instance.id, started.instance.bookmarks[0].id
            )
        },
        |node, id| async move {
            let (instance, bookmark) = id.split_once(' ').unwrap();
            node.wake(instance, bookmark).await;
        },
        |world, node, id| async move {
            let (instance, bookmark) = id.split_once(' ').unwrap();
            let request = ResumeRequest::bookmark(instance, bookmark, Map::new());
            node.instances()
                .resume(&world.tenant, request)
                .await
                .unwrap();
            settle().await;
            assert_eq!(node.sub_status(instance).await, "Finished");
            assert_eq!(written(&node, &world, instance).await, ["a", "b"]);
            assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
            // The event that it published started one listener.
            let heads = world.rows("WF#").into_iter().filter(|row| row == "HEAD");
            assert_eq!(heads.count(), 2);
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_accepted_event_is_delivered_wherever_its_delivery_is_cut_off() {
    at_every_call(
        async |world: &World| {
            let node = world.node();
            node.publish(sequence("waits", &[event("go"), write("woken")]))
                .await;
            node.publish(sequence("starts", &[event_trigger("go"), write("started")]))
                .await;
            let started = node.started("waits").await;
            settle().await;
            started.instance.id.to_string()
        },
        |node, _| async move {
            let event = EventRequest {
                name: "go".into(),
                event_id: Some("e".into()),
                payload: Value::Null,
                waits: true,
                ..EventRequest::default()
            };
            let tenant = dormouse_runtime::Tenant::default();
            node.stimuli().publish_event(&tenant, event).await.unwrap();
        },
        |world, node, id| async move {
            let heads = world.rows("WF#").into_iter().filter(|row| row == "HEAD");
            let heads = heads.count();
            assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
            // Either it was never accepted, or it woke the one and started the other.
            if node.sub_status(&id).await == "Finished" {
                assert_eq!(written(&node, &world, &id).await, ["woken"]);
                assert_eq!(heads, 2);
            } else {
                assert_eq!(heads, 1);
            }
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_recurring_trigger_goes_on_wherever_its_firing_is_cut_off() {
    at_every_call(
        async |world: &World| {
            let node = world.node();
            node.publish(sequence(
                "flow",
                &[cron("0 * * * * *", "skip"), write("tick")],
            ))
            .await;
            wait_ms(60_000).await;
            String::new()
        },
        |node, _| async move {
            node.fire_due().await;
        },
        |world, node, _| async move {
            assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
            let before = world.rows("WF#").len();
            assert!(before >= 1);
            wait_ms(60_000).await;
            node.fire_due().await;
            assert!(world.rows("WF#").len() > before);
            assert_eq!(world.rows("TIMER").len(), 1);
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_publish_with_recurring_triggers_is_whole_wherever_it_is_cut_off() {
    at_every_call(
        async |world: &World| {
            let flow = sequence("flow", &[cron("0 0 0 * * *", "allow"), write("tick")]);
            world.node().save(flow).await;
            String::new()
        },
        |node, _| async move {
            let tenant = dormouse_runtime::Tenant::default();
            node.definitions().publish(&tenant, "flow").await.unwrap();
        },
        |world, node, _| async move {
            wait_ms(900_000).await;
            node.sweep_later().await;
            let handle = DefinitionHandle::published("flow");
            let published = node
                .query()
                .definition(&world.tenant, &handle)
                .await
                .unwrap();
            assert_eq!(world.rows("TIMER").len(), usize::from(published.is_some()));
            assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_that_undoes_is_completed_wherever_it_is_cut_off() {
    at_every_call(
        async |world: &World| {
            let mut done = write("done");
            done["customProperties"] = json!({ "compensate": write("undone") });
            let mut all =
                json!({ "type": "Elsa.Sequence", "id": "all", "activities": [done, event("go")] });
            all["customProperties"] = json!({ "compensateOn": ["cancel"] });
            let node = world.node();
            node.publish(sequence("flow", &[all])).await;
            let started = node.started("flow").await;
            settle().await;
            started.instance.id.to_string()
        },
        |node, id| async move {
            let tenant = dormouse_runtime::Tenant::default();
            node.instances().cancel(&tenant, &id).await.unwrap();
        },
        |world, node, id| async move {
            // The caller got no answer, and asks again.
            node.instances().cancel(&world.tenant, &id).await.unwrap();
            settle().await;
            assert_eq!(node.sub_status(&id).await, "Cancelled");
            assert_eq!(written(&node, &world, &id).await, ["done", "undone"]);
            assert_eq!(world.rows("OUTBOX"), Vec::<String>::new());
        },
    )
    .await;
}
