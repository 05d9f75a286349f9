//! Nodes that live, die and come back over what they share, and how they are asked.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use bytes::Bytes;
use dormouse_embedded::{TableScheduler, TimerDriver};
use dormouse_expressions::Expressions;
use dormouse_runtime::port::{Ports, Scheduler};
use dormouse_runtime::{Message, Runtime, RuntimeConfig, Tenant};
use dormouse_store::item::config::StoreConfig;
use dormouse_store::{MemoryTable, Store};

use super::drivers::fire;
use super::index::LateIndexes;
use super::node::Node;
use super::plan::Plan;
use super::sabotage::Sabotage;
use super::watch::Watch;
use super::world::{Owner, World};

/// How long a caller waits for an answer, and a Lambda function may work, in ms.
pub(crate) const PATIENCE_MS: u64 = 30_000;

/// How often a delivery is tried: for longer than anything goes wrong.
pub(crate) const ATTEMPTS_MAX: u32 = 200;

/// How long a caller pauses at most before it asks again, in ms.
const PAUSE_MS_MAX: u64 = 5_000;

/// What all nodes share: what AWS would keep, and the world outside.
#[derive(Default)]
pub(crate) struct Shared {
    /// The table.
    pub(crate) table: MemoryTable,
    /// What the indexes of the table show, where they are late.
    pub(crate) indexes: Mutex<Option<LateIndexes>>,
    /// Schedules of timers, by name, that have not sent their message.
    pub(crate) schedules: Mutex<BTreeSet<String>>,
    /// Messages that were received too often.
    pub(crate) dead_letters: Mutex<Vec<Message>>,
    /// Tasks that impatient workers could not report.
    pub(crate) given_up: Mutex<Vec<String>>,
    /// How many messages and timers are being handled.
    pub(crate) turns: Mutex<usize>,
    /// Large states by name.
    pub(crate) blobs: Mutex<BTreeMap<String, Bytes>>,
    /// Requests that were made, by idempotency key: how often.
    pub(crate) requests: Mutex<BTreeMap<String, u32>>,
    /// What is on its way: messages, timers, work of others.
    pub(crate) pending: Mutex<i64>,
    /// When occurrences were fired: definition, when it was due, when it was tried at the latest.
    pub(crate) fired: Mutex<Vec<(String, i64, i64)>>,
    /// How often somebody has swept.
    pub(crate) sweeps: Mutex<u64>,
    /// What is looked at while it happens.
    pub(crate) watch: Mutex<Watch>,
    /// The planted bug, if any.
    pub(crate) sabotage: Option<Sabotage>,
}

/// All nodes. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Cluster(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) world: World,
    pub(crate) shared: Shared,
    pub(crate) plan: Plan,
    runtimes: Mutex<Vec<Runtime>>,
    expressions: Arc<Expressions>,
    births: Mutex<u64>,
}

impl std::ops::Deref for Cluster {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// The lock of something that only one thread uses.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("one thread")
}

impl Cluster {
    /// Brings all nodes up.
    #[must_use]
    pub(crate) fn new(
        world: World,
        shared: Shared,
        plan: &Plan,
        expressions: Arc<Expressions>,
    ) -> Self {
        if plan.faults.index_ms > 0 {
            *lock(&shared.indexes) = Some(LateIndexes::of(&shared.table));
        }
        let cluster = Self(Arc::new(Inner {
            world,
            shared,
            plan: plan.clone(),
            runtimes: Mutex::default(),
            expressions,
            births: Mutex::default(),
        }));
        for number in 0..plan.nodes {
            let runtime = cluster.boot(number);
            lock(&cluster.runtimes).push(runtime);
        }
        cluster
    }

    /// A node with nothing in its memory.
    fn boot(&self, number: usize) -> Runtime {
        let node = Arc::new(Node::new(self.clone(), number));
        let config = if self.plan.is_embedded {
            StoreConfig::embedded()
        } else {
            StoreConfig::dynamo()
        };
        let config = StoreConfig {
            writes_max: self.plan.writes_max,
            // Planted bugs change what lies in a head.
            compress_from: match self.shared.sabotage {
                Some(_) => usize::MAX,
                None => config.compress_from,
            },
            // Two show what many would; a sweep asks each one.
            outbox_shards: config.outbox_shards.min(2),
            ..config
        };
        let store = Store::new(node.clone(), config).with_blobs(node.clone());
        let timers = self.plan.has_table_timers.then(|| match self.plan.nodes {
            1 => TableScheduler::new(store.clone()),
            _ => TableScheduler::shared(store.clone(), number as u64),
        });
        let scheduler: Arc<dyn Scheduler> = match &timers {
            Some(timers) => Arc::new(timers.clone()),
            None => node.clone(),
        };
        let ports = Ports {
            clock: node.clone(),
            background: node.clone(),
            scheduler,
            http_caller: node.clone(),
            queue: if self.plan.has_queue {
                Some(node.clone())
            } else {
                None
            },
            bus: Some(node.clone()),
            broadcast: Some(node.clone()),
            compute: None,
            observer: None,
            commands: None,
            functions: None,
            vault: None,
            metrics: None,
        };
        let birth = {
            let mut births = lock(&self.births);
            *births += 1;
            *births
        };
        let name = format!("n{number}-{birth}");
        let mut config = if self.plan.is_function {
            RuntimeConfig::function(name, i64::try_from(PATIENCE_MS).unwrap_or(i64::MAX))
        } else {
            RuntimeConfig::server(name)
        };
        // Nothing is given up on while something goes wrong, so what is given up on could never have been done. Where
        // nothing fails the product's own limit holds: a delay is no failure.
        if !self.plan.faults.is_steady() {
            config.delivery_attempts_max = ATTEMPTS_MAX;
        }
        let runtime = Runtime::new(store, ports, self.expressions.clone(), config);
        let driver = timers
            .map(|timers| TimerDriver::new(timers, vec![runtime.clone()], node.clone(), node));
        if self.plan.watches_pauses() {
            self.world.set_starting(number, true);
            let watches = self.clone().watch_pauses(number, runtime.clone(), driver);
            self.world.spawn(Owner::Node(number), watches);
        } else if let Some(driver) = driver {
            self.world.spawn(Owner::Node(number), fire(driver));
        }
        runtime
    }

    /// Brings a dead node back.
    pub(crate) fn restart(&self, number: usize) {
        self.world.revive(number);
        let skew = self.plan.faults.skew_ms;
        if skew > 0 {
            let ms = self.world.below(skew.unsigned_abs());
            self.world.set_skew(number, i64::try_from(ms).unwrap_or(0));
        }
        let runtime = self.boot(number);
        lock(&self.runtimes)[number] = runtime;
    }

    /// A node's runtime.
    pub(crate) fn runtime(&self, number: usize) -> Runtime {
        lock(&self.runtimes)[number].clone()
    }

    /// Ends everything; nothing is freed without it.
    pub(crate) fn end(&self) {
        self.world.end();
        lock(&self.runtimes).clear();
    }

    /// A node that lives and does not stand still, chosen by chance.
    pub(crate) fn any_node(&self) -> Option<usize> {
        let fit: Vec<usize> = (0..self.plan.nodes)
            .filter(|n| self.world.is_reachable(*n))
            .collect();
        let place = usize::try_from(self.world.below(fit.len() as u64)).ok()?;
        fit.get(place).copied()
    }

    /// Asks some node. `None`: it died before it answered, or did not answer in time, or none lives.
    pub(crate) async fn ask<T, F>(
        &self,
        name: &'static str,
        request: impl FnOnce(Runtime) -> F,
    ) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let Some(number) = self.any_node() else {
            self.world.sleep(50).await;
            return None;
        };
        let answer = Arc::new(Mutex::new(Slot {
            value: None,
            waker: None,
            is_gone: false,
        }));
        let sender = Sender(answer.clone());
        let work = request(self.runtime(number));
        let cluster = self.clone();
        self.world.spawn(Owner::Node(number), async move {
            cluster.world.name_current(name);
            if cluster.plan.is_function && cluster.plan.has_pause() {
                // What cannot be seen now is seen by the next invocation.
                let _ = cluster.runtime(number).pauses().look_now_and_then().await;
            }
            let value = work.await;
            let spent = cluster.world.spent_by_current();
            // Without a queue there is nobody to hand the rest on to, and one page is forgotten before the next.
            let has_pages = cluster.plan.hard.pages && cluster.plan.has_queue && name != "sweep";
            lock(&cluster.shared.watch).spent(name, spent, has_pages);
            lock(&sender.0).value = Some(value);
        });
        // Whoever publishes and gives up cannot know what is in force from then on, so nobody does.
        let waits = matches!(name, "save" | "publish" | "retract") && !self.plan.is_function;
        let mut patience = pin!(self.world.sleep(PATIENCE_MS));
        let answered = std::future::poll_fn(move |cx| {
            let mut slot = lock(&answer);
            if let Some(value) = slot.value.take() {
                return Poll::Ready(Ok(Some(value)));
            }
            if slot.is_gone {
                return Poll::Ready(Ok(None));
            }
            slot.waker = Some(cx.waker().clone());
            drop(slot);
            if waits {
                return Poll::Pending;
            }
            patience.as_mut().poll(cx).map(|()| Err(()))
        })
        .await;
        let Ok(answered) = answered else {
            self.world
                .note(|| format!("node {number} does not answer: {name}"));
            if self.plan.is_function && !self.world.is_dead(number) {
                // A function that takes too long is ended, whatever it is doing.
                self.world.kill(number);
            }
            return None;
        };
        answered
    }

    /// Asks until there is an answer that is one, after longer and longer pauses: who asks a system at every chance
    /// keeps it from anything else, and each question is one more chance for a node to die.
    pub(crate) async fn insist<T, F, A>(
        &self,
        name: &'static str,
        request: impl Fn(Runtime) -> F,
        is_answer: impl Fn(T) -> Option<A>,
    ) -> A
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let mut pause_ms = 20;
        loop {
            let answer = self.ask(name, &request).await;
            if let Some(answer) = answer.and_then(&is_answer) {
                return answer;
            }
            self.world.sleep(pause_ms).await;
            pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
        }
    }

    /// Whether nothing is left that would wake an instance.
    pub(crate) fn is_at_rest(&self) -> bool {
        // Its timer driver, and what looks for pauses.
        let always = u32::from(self.plan.has_table_timers) + u32::from(self.plan.watches_pauses());
        !self.world.is_busy(always)
            && *lock(&self.shared.pending) == 0
            && !self.shared.table.has_partition("~/OUTBOX#")
            && !self.shared.table.has_partition("~/TIMER#")
    }
}

/// The tenant of all runs.
#[must_use]
pub(crate) fn tenant() -> Tenant {
    Tenant::default()
}

struct Slot<T> {
    value: Option<T>,
    waker: Option<Waker>,
    is_gone: bool,
}

/// Tells the asker when the answer is there, or never will be.
struct Sender<T>(Arc<Mutex<Slot<T>>>);

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let waker = {
            let mut slot = lock(&self.0);
            slot.is_gone = true;
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
