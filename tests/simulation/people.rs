//! What people do with the system during a run. Each insists until what they want is acknowledged, and writes down
//! what they were told.

use std::sync::{Arc, Mutex};

use dormouse_runtime::{
    DefinitionHandle, DeleteOutcome, DispatchOutcome, EventRequest, ResumeOutcome, StartOutcome,
    StartRequest,
};
use serde_json::json;

use super::cluster::{Cluster, lock, tenant};
use super::gatherings::start_of;
use super::ledger::{Ledger, Run, Started};
use super::plan::{End, Errand};
use super::recipe::Recipe;
use super::special::{RACE, SINGLE, TRIGGERED, VERSIONED, WHOLE};
use super::world::Owner;

/// How often somebody asks for an instance that is not there yet.
const QUESTIONS_MAX: u32 = 30;

/// Everybody, and what they were told.
#[derive(Clone)]
pub(crate) struct People {
    pub(crate) cluster: Cluster,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    /// How many are not done.
    pub(crate) left: Arc<Mutex<u64>>,
    /// Whether somebody changes the definition that changes.
    pub(crate) is_changing: Arc<Mutex<bool>>,
    /// The workflows of the menu.
    pub(crate) recipes: Arc<Vec<Recipe>>,
}

impl People {
    /// Somebody has something to do.
    pub(crate) fn send(&self, work: impl Future<Output = ()> + Send + 'static) {
        *lock(&self.left) += 1;
        let left = self.left.clone();
        self.cluster.world.spawn(Owner::Outside, async move {
            work.await;
            *lock(&left) -= 1;
        });
    }

    /// Lets everybody come.
    pub(crate) fn begin(&self) {
        for (number, errand) in self.cluster.plan.errands.clone().into_iter().enumerate() {
            let people = self.clone();
            self.send(async move {
                let world = people.cluster.world.clone();
                world.sleep(world.below(2_000)).await;
                people.go(&format!("p{number}"), errand).await;
            });
        }
    }

    async fn go(self, key: &str, errand: Errand) {
        match errand {
            Errand::Run {
                place,
                dispatches,
                end,
            } => {
                let count = self.recipes.len() as u64;
                let place = usize::try_from(place % count).unwrap_or(0);
                let recipe = self.recipes[place].clone();
                self.run(key, &recipe, dispatches, end).await;
            }
            Errand::Single => self.single(key).await,
            Errand::Trigger => {
                let id = format!("trigger-{key}");
                self.event(TRIGGERED, &id).await;
                lock(&self.ledger).triggers.push(id);
            }
            Errand::Orphan => {
                let id = format!("orphan-{key}");
                self.event(&format!("nobody-{key}"), &id).await;
                lock(&self.ledger).orphans.push(id);
            }
            Errand::Version => self.version(key).await,
            Errand::Change { times } => self.change(times).await,
            Errand::Recur {
                interval_s,
                is_cron,
                overlap,
            } => self.recur(key, interval_s, is_cron, overlap).await,
            Errand::Crowd { count } => self.crowd(key, count).await,
            Errand::Both => self.both(key).await,
            Errand::Address { whom } => self.address(key, whom).await,
            Errand::Pile { timers, after_task } => self.pile(key, timers, after_task).await,
            Errand::Race => drop(self.start_under(key, start_of(RACE)).await),
            Errand::Part => drop(self.start_under(key, start_of(WHOLE)).await),
            Errand::Mixup { timers } => self.mixup(key, timers).await,
            Errand::Family { children } => self.family(key, children).await,
            Errand::Mend => self.mend(key).await,
            Errand::MendAlone => self.mend_alone(key).await,
            Errand::Pause { ms } => self.pause(ms).await,
        }
    }

    async fn run(&self, key: &str, recipe: &Recipe, dispatches: bool, end: End) {
        self.send_events(key, recipe);
        let mut request = StartRequest::new(DefinitionHandle::published(&recipe.id));
        request.idempotency_key = Some(key.to_owned());
        for input in recipe.expect.events.keys() {
            let name = format!("{key}-{input}");
            request.input.insert(input.clone(), json!(name));
        }
        if recipe.expect.text_bytes > 0 {
            let text = noise(recipe.expect.text_bytes);
            request.input.insert("Text".into(), json!(text));
        }
        let instance = if dispatches {
            self.dispatch(request).await
        } else {
            self.start(request).await
        };
        let run = Run {
            recipe: recipe.id.clone(),
            key: key.to_owned(),
            end: End::None,
        };
        lock(&self.ledger).runs.insert(instance.clone(), run);
        let world = &self.cluster.world;
        if end != End::None {
            // From here on nobody can be sure how it ends.
            self.told(&instance, end);
            world.sleep(world.below(3_000)).await;
            self.interfere(&instance, end, dispatches).await;
        }
    }

    fn told(&self, instance: &str, end: End) {
        if let Some(run) = lock(&self.ledger).runs.get_mut(instance) {
            run.end = end;
        }
    }

    /// What the workflow waits for comes before, during or after its start.
    fn send_events(&self, key: &str, recipe: &Recipe) {
        let at_once = self.cluster.world.chance(400);
        for (input, times) in &recipe.expect.events {
            for time in 0..*times {
                let (people, name) = (self.clone(), format!("{key}-{input}"));
                self.send(async move {
                    let world = people.cluster.world.clone();
                    world
                        .sleep(if at_once { 0 } else { world.below(6_000) })
                        .await;
                    people.event(&name, &format!("{name}-{time}")).await;
                });
            }
        }
    }

    pub(crate) async fn start(&self, request: StartRequest) -> String {
        self.cluster
            .insist(
                "start",
                |runtime| {
                    let request = request.clone();
                    async move { runtime.instances().start(&tenant(), request).await }
                },
                |outcome| match outcome {
                    Ok(StartOutcome::Started(report)) => Some(report.instance.id.to_string()),
                    Ok(StartOutcome::AlreadyStarted(head)) => Some(head.instance_id),
                    // The one that runs ends.
                    Ok(StartOutcome::NotAllowed { .. }) => None,
                    Ok(other) => panic!("not started: {other:?}"),
                    Err(_) => None,
                },
            )
            .await
    }

    async fn dispatch(&self, request: StartRequest) -> String {
        self.cluster
            .insist(
                "dispatch",
                |runtime| {
                    let request = request.clone();
                    async move { runtime.instances().dispatch(&tenant(), request).await }
                },
                |outcome| match outcome {
                    Ok(DispatchOutcome::Accepted { instance_id }) => Some(instance_id),
                    Ok(other) => panic!("not dispatched: {other:?}"),
                    Err(_) => None,
                },
            )
            .await
    }

    /// One that was dispatched may not be there yet. After a while it is given up on: its start may have become a dead
    /// letter, which an operator replays when the storm is over.
    async fn interfere(&self, instance: &str, end: End, dispatched: bool) {
        let deletes = end == End::Delete;
        let id = instance.to_owned();
        let asked = Arc::new(Mutex::new(0));
        self.cluster
            .insist(
                "interfere",
                move |runtime| {
                    let id = id.clone();
                    async move {
                        if deletes {
                            let outcome = runtime.instances().delete(&tenant(), &id).await.ok()?;
                            return Some(outcome != DeleteOutcome::NotFound);
                        }
                        let outcome = runtime.instances().cancel(&tenant(), &id).await.ok()?;
                        Some(!matches!(outcome, ResumeOutcome::NotFound))
                    }
                },
                move |is_there: Option<bool>| {
                    let is_there = is_there?;
                    *lock(&asked) += 1;
                    let is_enough = !dispatched || *lock(&asked) > QUESTIONS_MAX;
                    (is_there || is_enough).then_some(())
                },
            )
            .await;
    }

    /// Sends an event until it is accepted, and now and then once more.
    async fn event(&self, name: &str, id: &str) {
        let world = &self.cluster.world;
        let twice = world.chance(world.faults().twice);
        for _ in 0..1 + u32::from(twice) {
            let waits = world.chance(500);
            self.cluster
                .insist(
                    "publish event",
                    |runtime| {
                        let request = EventRequest {
                            name: name.to_owned(),
                            event_id: Some(id.to_owned()),
                            payload: json!({ "id": id }),
                            queued_ms: name
                                .starts_with("nobody")
                                .then_some(20_000)
                                .or(Some(86_400_000)),
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

    async fn single(&self, key: &str) {
        let mut request = StartRequest::new(DefinitionHandle::published(SINGLE));
        request.idempotency_key = Some(key.to_owned());
        let started = self
            .cluster
            .insist(
                "start",
                |runtime| {
                    let request = request.clone();
                    async move { runtime.instances().start(&tenant(), request).await }
                },
                |outcome| match outcome {
                    Ok(StartOutcome::Started(report)) => Some(Some(report.instance.id.to_string())),
                    Ok(StartOutcome::AlreadyStarted(head)) => Some(Some(head.instance_id)),
                    Ok(StartOutcome::NotAllowed { .. }) => Some(None),
                    Ok(other) => panic!("not started: {other:?}"),
                    Err(_) => None,
                },
            )
            .await;
        if let Some(instance) = started {
            let run = Run {
                recipe: SINGLE.to_owned(),
                key: key.to_owned(),
                end: End::None,
            };
            lock(&self.ledger).runs.insert(instance, run);
        }
    }

    async fn version(&self, key: &str) {
        let world = &self.cluster.world;
        world.sleep(world.below(2_000)).await;
        let began = world.tick();
        let mut request = StartRequest::new(DefinitionHandle::published(VERSIONED));
        request.idempotency_key = Some(format!("{key}-{began}"));
        let version = self
            .cluster
            .insist(
                "start",
                |runtime| {
                    let request = request.clone();
                    async move { runtime.instances().start(&tenant(), request).await }
                },
                |outcome| match outcome {
                    Ok(StartOutcome::Started(report)) => Some(report.instance.version),
                    Ok(StartOutcome::AlreadyStarted(head)) => Some(head.summary.definition_version),
                    Ok(StartOutcome::NotFound) => Some(0),
                    Ok(other) => panic!("not started: {other:?}"),
                    Err(_) => None,
                },
            )
            .await;
        lock(&self.ledger).starts.push(Started {
            began,
            ended: world.tick(),
            version,
        });
    }
}

/// Text that does not compress.
fn noise(bytes: usize) -> String {
    let mut random = 7;
    let digits = std::iter::repeat_with(|| {
        random = dormouse_engine::id::splitmix(random);
        format!("{random:016x}")
    });
    digits.take(bytes.div_ceil(16)).collect()
}
