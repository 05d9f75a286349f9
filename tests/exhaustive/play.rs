//! One run of a scenario: nodes over one table, and the people who ask them.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Poll, Waker};

use dormouse_engine::definition::Definition;
use dormouse_expressions::Expressions;
use dormouse_runtime::port::Ports;
use dormouse_runtime::{PublishOutcome, Runtime, RuntimeConfig, Tenant, Timer};
use dormouse_store::Store;
use dormouse_store::item::config::StoreConfig;
use dormouse_store::table::{Condition, Item, Table as _, Write};

use super::node::{Node, Shared};
use super::plant::Plant;
use super::world::{Fate, Kind, Owner, World};

/// 2026-01-01T00:00:00Z.
pub(crate) const BEGIN_MS: i64 = 1_767_225_600_000;

/// Whoever prepares, heals and checks.
const KEEPER: usize = 9;

pub(crate) type Work<T = ()> = Pin<Box<dyn Future<Output = T> + Send>>;

/// How the system of a scenario is built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Whether timers lie in the table rather than with somebody else.
    pub(crate) has_table_timers: bool,
    /// Whether rows are written together with the head, as by the embedded table; else before it, as by DynamoDB's.
    pub(crate) commits_whole: bool,
    /// How many writes are atomic together.
    pub(crate) writes_max: usize,
    /// How long a caller waits for somebody else's lease, ms.
    pub(crate) wait_ms_max: i64,
    /// How far the clock of node 1 is ahead of the others, ms.
    pub(crate) skew_ms: i64,
    /// Whether definitions are published while it runs.
    pub(crate) publishes: bool,
    /// What is wrong on purpose.
    pub(crate) plant: Plant,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            has_table_timers: true,
            commits_whole: true,
            writes_max: 100,
            wait_ms_max: 0,
            skew_ms: 0,
            publishes: false,
            plant: Plant::None,
        }
    }
}

/// What people know, by name: what was prepared, and what they were told.
pub(crate) type Facts = BTreeMap<String, String>;

/// A run, as one of its people sees it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Client {
    number: usize,
    pub(crate) world: World,
    pub(crate) shared: Arc<Shared>,
    shape: Shape,
    runtimes: Arc<Mutex<BTreeMap<usize, (u64, Runtime)>>>,
    facts: Arc<Mutex<Facts>>,
}

/// Compiled once for all runs: it remembers nothing that a run could see.
fn expressions() -> Arc<Expressions> {
    static ONE: OnceLock<Arc<Expressions>> = OnceLock::new();
    ONE.get_or_init(Arc::default).clone()
}

impl Client {
    /// A run over a table with these items.
    pub(crate) fn new(shape: Shape, items: &[Item], now_ms: i64, facts: Facts) -> Self {
        let client = Self {
            number: KEEPER,
            world: World::at(now_ms),
            shared: Arc::default(),
            shape,
            runtimes: Arc::default(),
            facts: Arc::new(Mutex::new(facts)),
        };
        for item in items {
            let put = [Write::Put(item.clone(), Condition::Always)];
            let table = &client.shared.table;
            let written = std::pin::pin!(table.write(&put));
            let mut cx = std::task::Context::from_waker(Waker::noop());
            assert!(
                written.poll(&mut cx).is_ready(),
                "a table in memory answers at once"
            );
        }
        client
    }

    /// The same run as somebody else sees it.
    pub(crate) fn as_number(&self, number: usize) -> Self {
        Self {
            number,
            ..self.clone()
        }
    }

    /// What is known under a name.
    pub(crate) fn fact(&self, name: &str) -> String {
        self.facts
            .lock()
            .unwrap()
            .get(name)
            .cloned()
            .unwrap_or_default()
    }

    pub(crate) fn facts(&self) -> Facts {
        self.facts.lock().unwrap().clone()
    }

    /// Somebody was told something.
    pub(crate) fn told(&self, name: &str, what: impl Into<String>) {
        self.facts
            .lock()
            .unwrap()
            .insert(name.to_owned(), what.into());
    }

    /// A node as it lives now.
    fn runtime(&self, number: usize) -> Runtime {
        let birth = self.world.births(number);
        let mut runtimes = self.runtimes.lock().unwrap();
        if let Some((born, runtime)) = runtimes.get(&number)
            && *born == birth
        {
            return runtime.clone();
        }
        let is_keeper = number == KEEPER;
        let node = Arc::new(Node {
            number,
            world: self.world.clone(),
            shared: self.shared.clone(),
            plant: if is_keeper {
                Plant::None
            } else {
                self.shape.plant
            },
            skew_ms: if number == 1 { self.shape.skew_ms } else { 0 },
            has_table_timers: self.shape.has_table_timers,
            has_fixed_definitions: !self.shape.publishes && !is_keeper,
            looked: Arc::default(),
            drawn: Arc::default(),
        });
        let store_config = StoreConfig {
            writes_max: self.shape.writes_max,
            commits_whole: self.shape.commits_whole,
            compress_from: usize::MAX,
            ..StoreConfig::embedded()
        };
        let config = RuntimeConfig {
            wait_ms_max: if is_keeper {
                60_000
            } else {
                self.shape.wait_ms_max
            },
            cached_nodes_max: 400,
            // Less than a leap: whoever is frozen for one is fenced.
            undecided_ms_max: 15_000,
            ..RuntimeConfig::server(format!("n{number}-{birth}"))
        };
        let ports = Ports {
            clock: node.clone(),
            background: node.clone(),
            scheduler: node.clone(),
            http_caller: node.clone(),
            queue: None,
            bus: None,
            broadcast: None,
            compute: None,
            observer: None,
            commands: None,
            functions: None,
            vault: None,
            metrics: None,
        };
        let runtime = Runtime::new(Store::new(node, store_config), ports, expressions(), config);
        runtimes.insert(number, (birth, runtime.clone()));
        runtime
    }

    /// Asks a node. `None`: it died before it answered.
    pub(crate) async fn ask<T, F>(
        &self,
        number: usize,
        request: impl FnOnce(Runtime) -> F,
    ) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let slot = Arc::new(Mutex::new((None, None::<Waker>, false)));
        let sender = Sender(slot.clone());
        let (world, node, asker) = (
            self.world.clone(),
            Owner::Node(number),
            Owner::Client(self.number),
        );
        let work = request(self.runtime(number));
        self.world.spawn(node, async move {
            let value = work.await;
            // It may die with the answer on its lips.
            world.point(node, Kind::Tell, "answers".into()).await;
            // What the answer says follows from what the node has seen.
            world.see(asker, world.seen_by(node));
            sender.0.lock().unwrap().0 = Some(value);
        });
        let answer = std::future::poll_fn(|cx| {
            let mut slot = slot.lock().unwrap();
            if let Some(value) = slot.0.take() {
                return Poll::Ready(Some(value));
            }
            if slot.2 {
                return Poll::Ready(None);
            }
            slot.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
        if answer.is_none() {
            self.world.see(asker, 17);
        }
        answer
    }

    /// Asks a node until it answers something that counts.
    pub(crate) async fn insist<T, E, F>(&self, number: usize, request: impl Fn(Runtime) -> F) -> T
    where
        T: Send + 'static,
        E: Send + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        loop {
            if let Some(Ok(value)) = self.ask(number, &request).await {
                return value;
            }
            self.world.sleep(Owner::Client(self.number), 5_000).await;
        }
    }

    /// Runs something to its end, and everything that follows from it, while nothing goes wrong.
    pub(crate) fn quietly(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.world.spawn(Owner::Client(self.number), work);
        for _ in 0..100_000 {
            self.world.settle();
            if let Some((id, _)) = self.world.points().first() {
                self.world.grant(id, Fate::Well);
            } else if self.world.has_sleepers() {
                self.world.wake_next();
            } else {
                return;
            }
        }
        panic!("it never comes to rest");
    }

    pub(crate) async fn publish(&self, node: usize, json: serde_json::Value) {
        let outcome = self
            .ask(node, |runtime| async move {
                let definition = Definition::from_value(json).unwrap();
                let id = definition.definition_id.clone().unwrap();
                runtime
                    .definitions()
                    .save(&tenant(), definition)
                    .await
                    .unwrap();
                runtime.definitions().publish(&tenant(), &id).await.unwrap()
            })
            .await;
        assert!(
            matches!(outcome, Some(PublishOutcome::Published(_))),
            "{outcome:?}"
        );
    }

    /// Fires what is due, as a scheduler would.
    pub(crate) async fn fire_due(&self, number: usize) {
        let now = self.world.now_ms();
        let mut due: Vec<Timer> = {
            let timers = self.shared.timers.lock().unwrap();
            timers
                .values()
                .filter(|timer| timer.due.0 <= now)
                .cloned()
                .collect()
        };
        let rows = self.ask(number, |runtime| async move {
            runtime.store().timers().timers_due(0, now, 100, None).await
        });
        if let Some(Ok(page)) = rows.await {
            due.extend(
                page.timers
                    .iter()
                    .map(|row| serde_json::from_slice::<Timer>(&row.body).unwrap()),
            );
        }
        for timer in due {
            self.ask(number, |runtime| async move {
                runtime.timers().fire(&timer).await.is_ok()
            })
            .await;
        }
    }

    /// Lets time, timers and sweeps bring everything to rest.
    pub(crate) fn heal(&self) {
        for _ in 0..8 {
            let client = self.as_number(KEEPER);
            self.world.wait_until(self.world.now_ms() + 61_000);
            self.quietly(async move {
                client.fire_due(KEEPER).await;
                client
                    .ask(KEEPER, |runtime| async move {
                        runtime.operations().sweep().await.is_ok()
                    })
                    .await;
            });
            if self.is_at_rest() {
                return;
            }
        }
        self.world.is_wrong("it never comes to rest".into());
    }

    /// Whether nothing is left to be delivered, and nothing is due.
    fn is_at_rest(&self) -> bool {
        let now = format!("{:013}", self.world.now_ms());
        let items = self.shared.table.items();
        !items.iter().any(|item| {
            let partition = &item.key.partition;
            partition.contains("/OUTBOX#") || partition == "~/TIMER" && item.key.sort < now
        })
    }

    /// Asks the keeper's node, while nothing goes wrong.
    pub(crate) async fn look<T, F>(&self, request: impl FnOnce(Runtime) -> F) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.ask(KEEPER, request)
            .await
            .expect("the keeper does not die")
    }
}

/// Tells the asker that the answer is there, or never will be.
struct Sender<T>(Arc<Mutex<(Option<T>, Option<Waker>, bool)>>);

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let waker = {
            let mut slot = self.0.lock().unwrap();
            slot.2 = true;
            slot.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The tenant of all runs.
pub(crate) fn tenant() -> Tenant {
    Tenant::default()
}
