//! What people do with the system during a run, and what they were told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dormouse_engine::definition::Definition;
use dormouse_engine::id::InstanceId;
use dormouse_runtime::{
    DefinitionHandle, EventRequest, PublishOutcome, ResumeOutcome, SaveOutcome, StartOutcome,
    StartRequest,
};
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{delay, dispatch, task};
use dormouse_tests::{activity, js, workflow};
use serde_json::{Value, json};

use super::cluster::{Cluster, tenant};
use super::world::Owner;

/// The workflows of a run.
pub(crate) const KINDS: [&str; 6] = ["lines", "task", "sleep", "event", "parent", "both"];

/// What one person was told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    /// Which workflow.
    pub(crate) kind: &'static str,
    /// The instance, once its start was acknowledged.
    pub(crate) instance: Option<InstanceId>,
    /// The acknowledged completion of its task, or sending of its event.
    pub(crate) is_resumed: bool,
    /// The acknowledged cancellation.
    pub(crate) is_cancelled: bool,
}

/// What everybody was told, by key.
pub(crate) type Ledger = Arc<Mutex<BTreeMap<String, Told>>>;

/// The definitions of a run.
#[must_use]
pub(crate) fn definitions() -> Vec<Value> {
    let event = activity("Elsa.Event")
        .input("eventName", js("'go-' + getInput('Key')"))
        .id("wait");
    let roots = [
        ("lines", flow("one > two", [])),
        (
            "task",
            flow("before > work > after", [task("work").id("work")]),
        ),
        (
            "sleep",
            flow("sleep > awake", [delay("00:00:01").id("sleep")]),
        ),
        ("event", flow("wait > went", [event])),
        (
            "parent",
            flow("child > after", [dispatch("sleep", true).id("child")]),
        ),
        // Two branches that wait for different things, and meet again.
        (
            "both",
            flow(
                "begin > sleep > end; begin > work > end",
                [delay("00:00:00.300").id("sleep"), task("work").id("work")],
            ),
        ),
    ];
    roots
        .into_iter()
        .map(|(name, root)| workflow(name, root).json().clone())
        .collect()
}

/// Publishes all definitions while nothing goes wrong.
pub(crate) async fn publish(cluster: &Cluster) {
    for definition in definitions() {
        let published = cluster
            .ask(|runtime| async move {
                let definition =
                    Definition::from_value(definition).expect("the run's own definition");
                let id = definition.definition_id.clone().unwrap_or_default();
                let saved = runtime
                    .save_definition(&tenant(), definition)
                    .await
                    .expect("saved");
                assert!(matches!(saved, SaveOutcome::Saved { .. }));
                runtime
                    .publish_definition(&tenant(), &id)
                    .await
                    .expect("published")
            })
            .await;
        match published {
            Some(PublishOutcome::Published(_)) => {}
            other => panic!("not published: {other:?}"),
        }
    }
}

/// One person: starts an instance, does what it asks for, each until it is acknowledged.
pub(crate) async fn person(cluster: Cluster, ledger: Ledger, number: u64) {
    let world = cluster.world.clone();
    let kind = KINDS[usize::try_from(world.below(KINDS.len() as u64)).unwrap_or(0)];
    let key = format!("p{number}");
    world.sleep(world.below(2_000)).await;
    // An event may come before, during or after the start that waits for it.
    let sends_first = kind == "event" && world.chance(300);
    if sends_first {
        send_event(&cluster, &key).await;
    }
    let instance = start(&cluster, kind, &key).await;
    ledger.lock().expect("one thread").insert(
        key.clone(),
        Told {
            kind,
            instance: Some(instance.clone()),
            is_resumed: sends_first,
            is_cancelled: false,
        },
    );
    if world.chance(100) && kind != "lines" {
        world.sleep(world.below(1_500)).await;
        cancel(&cluster, &instance).await;
        update(&ledger, &key, |told| told.is_cancelled = true);
        return;
    }
    match kind {
        "task" | "both" => complete_task(&cluster, &instance).await,
        "event" if !sends_first => send_event(&cluster, &key).await,
        _ => return,
    }
    update(&ledger, &key, |told| told.is_resumed = true);
}

fn update(ledger: &Ledger, key: &str, change: impl FnOnce(&mut Told)) {
    if let Some(told) = ledger.lock().expect("one thread").get_mut(key) {
        change(told);
    }
}

async fn start(cluster: &Cluster, kind: &'static str, key: &str) -> InstanceId {
    loop {
        let mut request = StartRequest::new(DefinitionHandle::published(kind));
        request.idempotency_key = Some(key.to_owned());
        request.input.insert("Key".into(), json!(key));
        let outcome = cluster
            .ask(|runtime| async move { runtime.start(&tenant(), request).await })
            .await;
        match outcome {
            Some(Ok(StartOutcome::Started(report))) => return report.instance.id.clone(),
            Some(Ok(StartOutcome::AlreadyStarted(head))) => {
                return InstanceId::from(head.instance_id.as_str());
            }
            Some(Ok(other)) => panic!("{kind} is not started: {other:?}"),
            Some(Err(_)) | None => cluster.world.sleep(20).await,
        }
    }
}

/// Finds the task of an instance and completes it; it may be done already, by an earlier try whose answer was lost.
async fn complete_task(cluster: &Cluster, instance: &InstanceId) {
    let mut attempts = 0;
    loop {
        let id = instance.as_str().to_owned();
        let detail = cluster
            .ask(|runtime| async move { runtime.instance(&tenant(), &id).await.ok().flatten() })
            .await;
        if let Some(Some(detail)) = detail {
            let bookmark = detail
                .instance
                .bookmarks
                .iter()
                .find(|b| b.name == "Elsa.RunTask");
            match bookmark {
                Some(bookmark) => {
                    let task = format!("{instance}.{}", bookmark.id);
                    let outcome = cluster
                        .ask(|runtime| async move {
                            runtime.complete_task(&tenant(), &task, json!("done")).await
                        })
                        .await;
                    if let Some(Ok(outcome)) = outcome {
                        assert!(
                            !matches!(outcome, ResumeOutcome::NotFound | ResumeOutcome::Deleted),
                            "an instance that was acknowledged is gone"
                        );
                        return;
                    }
                }
                // Completed by a try whose answer was lost.
                None if attempts > 0 => return,
                None => {}
            }
            attempts += 1;
        }
        cluster.world.sleep(20).await;
    }
}

async fn send_event(cluster: &Cluster, key: &str) {
    loop {
        let request = EventRequest {
            name: format!("go-{key}"),
            event_id: Some(format!("event-{key}")),
            payload: json!({ "key": key }),
            correlation_id: None,
            instance_id: None,
            activity_instance_id: None,
            kept_ms: None,
            waits: cluster.world.chance(500),
        };
        let outcome = cluster
            .ask(|runtime| async move { runtime.publish_event(&tenant(), request).await })
            .await;
        if matches!(outcome, Some(Ok(_))) {
            return;
        }
        cluster.world.sleep(20).await;
    }
}

async fn cancel(cluster: &Cluster, instance: &InstanceId) {
    loop {
        let id = instance.as_str().to_owned();
        let outcome = cluster
            .ask(|runtime| async move { runtime.cancel(&tenant(), &id).await })
            .await;
        if matches!(outcome, Some(Ok(_))) {
            return;
        }
        cluster.world.sleep(20).await;
    }
}

/// Lets people come.
pub(crate) fn begin(cluster: &Cluster, ledger: &Ledger, people: u64) -> Arc<Mutex<u64>> {
    let left = Arc::new(Mutex::new(people));
    for number in 0..people {
        let (cluster, ledger, left) = (cluster.clone(), ledger.clone(), left.clone());
        let world = cluster.world.clone();
        world.spawn(Owner::Outside, async move {
            person(cluster, ledger, number).await;
            *left.lock().expect("one thread") -= 1;
        });
    }
    left
}
