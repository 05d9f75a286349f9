//! People whose errands are about many instances, many timers or many bookmarks at once.

use dormouse_runtime::{DefinitionHandle, EventRequest, StartRequest};
use serde_json::json;

use super::cluster::{lock, tenant};
use super::ledger::Run;
use super::people::People;
use super::plan::{End, Whom};
use super::special::{BOTH, FAMILY, FAN, LISTENER, MIXUP, NEIGHBOUR, PILE};

/// How long a worker takes at most until its first report, ms, with some seconds for the report.
const REPORTED_AFTER_MS: u64 = 8_000;

/// How long one of many timers or children may take, ms.
const EACH_MS: u64 = 200;

/// How long after its start an instance is approved, ms: after the lease of a dead node.
const APPROVED_AFTER_MS: u64 = 120_000;

/// An event and its recipients.
#[derive(Debug, Clone, Default)]
struct Addressed {
    name: String,
    id: String,
    correlation: Option<String>,
    instance: Option<String>,
}

impl People {
    /// Starts an instance of a definition under a key, and notes what was acknowledged.
    pub(crate) async fn start_under(&self, key: &str, mut request: StartRequest) -> String {
        request.idempotency_key = Some(key.to_owned());
        let recipe = match &request.definition {
            DefinitionHandle::Definition { id, .. } | DefinitionHandle::Version { id } => {
                id.clone()
            }
        };
        let instance = self.start(request).await;
        let run = Run {
            recipe,
            key: key.to_owned(),
            end: End::None,
        };
        lock(&self.ledger).runs.insert(instance.clone(), run);
        instance
    }

    /// Starts many instances that wait for one event, and sends it: all of them resume.
    pub(crate) async fn crowd(&self, key: &str, count: u32) {
        let name = format!("{key}-all");
        for number in 0..count {
            let key = format!("{key}-{number}");
            self.start_under(&key, listening(LISTENER, &name)).await;
        }
        self.tell(&Addressed {
            id: format!("all-{key}"),
            name,
            ..Addressed::default()
        })
        .await;
    }

    /// Starts an instance that waits for one event twice, and sends it: both branches resume.
    pub(crate) async fn both(&self, key: &str) {
        let name = format!("{key}-both");
        self.start_under(key, listening(BOTH, &name)).await;
        self.tell(&Addressed {
            id: format!("all-{key}"),
            name,
            ..Addressed::default()
        })
        .await;
    }

    /// Starts two instances that wait for events of one name, and sends each of them its own, the second one first.
    pub(crate) async fn address(&self, key: &str, whom: Whom) {
        let mut expected = Vec::new();
        for part in ["a", "b"] {
            let mut request = listening(LISTENER, &format!("{key}-own"));
            let correlation = format!("{key}{part}");
            request.correlation_id = Some(correlation.clone());
            let instance = self.start_under(&correlation, request).await;
            let event = format!("{correlation}-event");
            expected.push((instance, correlation, event));
        }
        for (instance, correlation, event) in expected.into_iter().rev() {
            let all = Addressed {
                name: format!("{key}-own"),
                id: event.clone(),
                ..Addressed::default()
            };
            let addressed = match whom {
                Whom::Instance => Addressed {
                    instance: Some(instance.clone()),
                    ..all
                },
                Whom::Correlation => Addressed {
                    correlation: Some(correlation),
                    ..all
                },
            };
            self.tell(&addressed).await;
            lock(&self.ledger).addressed.push((instance, event));
        }
    }

    /// Starts an instance that sets many timers for the same moment, at once or when its task is done, and one that sets
    /// a single timer.
    pub(crate) async fn pile(&self, key: &str, timers: u32, after_task: bool) {
        let definition = if after_task { FAN } else { PILE };
        let mut request = start_of(definition);
        request.input.insert("Count".into(), json!(timers));
        let instance = self.start_under(key, request).await;
        lock(&self.ledger).piles.push((instance, timers));
        let key = format!("{key}-neighbour");
        self.start_under(&key, start_of(NEIGHBOUR)).await;
        self.stay(timers).await;
    }

    /// Starts an instance that waits for an approval in one branch and for many timers in the other one, and approves.
    pub(crate) async fn mixup(&self, key: &str, timers: u32) {
        let name = format!("{key}-approval");
        let mut request = listening(MIXUP, &name);
        request.input.insert("Count".into(), json!(timers));
        let instance = self.start_under(key, request).await;
        lock(&self.ledger).piles.push((instance.clone(), timers));
        // After the timers of a lost commit have fired.
        let world = &self.cluster.world;
        world.sleep(APPROVED_AFTER_MS).await;
        let addressed = Addressed {
            id: format!("{name}-0"),
            name,
            ..Addressed::default()
        };
        self.tell(&addressed).await;
        let told = (instance, addressed.id);
        lock(&self.ledger).addressed.push(told);
    }

    /// Stays until so many things are probably done: the storm lasts for as long as somebody is there.
    async fn stay(&self, count: u32) {
        let ms = REPORTED_AFTER_MS + u64::from(count) * EACH_MS;
        self.cluster.world.sleep(ms).await;
    }

    /// Starts an instance that starts many children and waits for all of them.
    pub(crate) async fn family(&self, key: &str, children: u32) {
        let mut request = start_of(FAMILY);
        request.input.insert("Count".into(), json!(children));
        self.start_under(key, request).await;
        self.stay(children).await;
    }

    /// Sends an event until it is accepted, and now and then once more.
    async fn tell(&self, addressed: &Addressed) {
        let world = &self.cluster.world;
        let twice = world.chance(world.faults().twice);
        for _ in 0..1 + u32::from(twice) {
            let waits = world.chance(500);
            self.cluster
                .insist(
                    "publish event",
                    |runtime| {
                        let request = EventRequest {
                            name: addressed.name.clone(),
                            event_id: Some(addressed.id.clone()),
                            payload: json!({ "id": addressed.id }),
                            correlation_id: addressed.correlation.clone(),
                            instance_id: addressed.instance.clone(),
                            queued_ms: Some(86_400_000),
                            waits,
                            ..EventRequest::default()
                        };
                        async move { runtime.stimuli().publish_event(&tenant(), request).await }
                    },
                    Result::ok,
                )
                .await;
        }
    }
}

/// The start of an instance of a definition.
pub(crate) fn start_of(definition: &str) -> StartRequest {
    StartRequest::new(DefinitionHandle::published(definition))
}

/// The start of an instance that waits for an event.
fn listening(definition: &str, event: &str) -> StartRequest {
    let mut request = start_of(definition);
    request.input.insert("E1".into(), json!(event));
    request
}
