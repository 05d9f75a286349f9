//! Nodes that live, die and come back, and what drives them: timers, messages, sweeps, news.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use dormouse_expressions::Expressions;
use dormouse_runtime::port::Ports;
use dormouse_runtime::{Delivered, Runtime, RuntimeConfig, Tenant, TimerOutcome};
use dormouse_store::Store;
use dormouse_store::config::StoreConfig;

use super::ports::{Node, Shared};
use super::world::{Owner, World};

/// How the system of a run is built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Nodes.
    pub(crate) nodes: usize,
    /// Whether effects go through a queue rather than being handled in process.
    pub(crate) has_queue: bool,
}

/// All nodes.
#[derive(Clone)]
pub(crate) struct Cluster {
    /// The world they are in.
    pub(crate) world: World,
    /// What they share.
    pub(crate) shared: Arc<Shared>,
    shape: Shape,
    runtimes: Arc<Mutex<Vec<Runtime>>>,
    expressions: Arc<Expressions>,
    births: Arc<Mutex<u64>>,
}

impl Cluster {
    /// Brings all nodes up.
    #[must_use]
    pub(crate) fn new(world: World, shape: Shape, expressions: Arc<Expressions>) -> Self {
        let cluster = Self {
            world,
            shared: Arc::new(Shared::default()),
            shape,
            runtimes: Arc::default(),
            expressions,
            births: Arc::default(),
        };
        for number in 0..shape.nodes {
            let runtime = cluster.boot(number);
            cluster.runtimes.lock().expect("one thread").push(runtime);
        }
        cluster
    }

    /// A node with nothing in its memory.
    fn boot(&self, number: usize) -> Runtime {
        let skew = self.world.faults().skew_ms;
        let skew_ms = if skew == 0 {
            0
        } else {
            i64::try_from(self.world.below(skew.unsigned_abs())).unwrap_or(0)
        };
        let node = Arc::new(Node {
            number,
            world: self.world.clone(),
            shared: self.shared.clone(),
            nodes: self.shape.nodes,
            skew_ms,
        });
        let store = Store::new(node.clone(), StoreConfig::dynamo());
        let ports = Ports {
            clock: node.clone(),
            background: node.clone(),
            scheduler: node.clone(),
            http_caller: node.clone(),
            queue: if self.shape.has_queue {
                Some(node.clone())
            } else {
                None
            },
            bus: None,
            broadcast: Some(node),
            observer: None,
            metrics: None,
        };
        let birth = {
            let mut births = self.births.lock().expect("one thread");
            *births += 1;
            *births
        };
        Runtime::new(
            store,
            ports,
            self.expressions.clone(),
            RuntimeConfig::server(format!("n{number}-{birth}")),
        )
    }

    /// Brings a dead node back.
    pub(crate) fn restart(&self, number: usize) {
        self.world.revive(number);
        let runtime = self.boot(number);
        if let Some(place) = self.runtimes.lock().expect("one thread").get_mut(number) {
            *place = runtime;
        }
    }

    /// A node that lives, chosen by chance.
    fn any_node(&self) -> Option<(usize, Runtime)> {
        let alive: Vec<usize> = (0..self.shape.nodes)
            .filter(|n| !self.world.is_dead(*n))
            .collect();
        let place = usize::try_from(self.world.below(alive.len() as u64)).ok()?;
        let number = *alive.get(place)?;
        Some((
            number,
            self.runtimes
                .lock()
                .expect("one thread")
                .get(number)?
                .clone(),
        ))
    }

    /// Asks some node. `None`: it died before it answered, or none lives.
    pub(crate) async fn ask<T, F>(&self, request: impl FnOnce(Runtime) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let Some((number, runtime)) = self.any_node() else {
            self.world.sleep(50).await;
            return None;
        };
        let answer = Arc::new(Mutex::new(Slot {
            value: None,
            waker: None,
            is_gone: false,
        }));
        let sender = Sender(answer.clone());
        let work = request(runtime);
        self.world.spawn(Owner::Node(number), async move {
            let value = work.await;
            sender.0.lock().expect("one thread").value = Some(value);
        });
        std::future::poll_fn(move |cx| {
            let mut slot = answer.lock().expect("one thread");
            if let Some(value) = slot.value.take() {
                return Poll::Ready(Some(value));
            }
            if slot.is_gone {
                return Poll::Ready(None);
            }
            slot.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Whether nothing is left that would wake an instance.
    pub(crate) fn is_at_rest(&self) -> bool {
        let has_outbox = self
            .shared
            .table
            .items()
            .iter()
            .any(|i| i.key.partition.contains("OUTBOX"));
        let has_timers = !self.shared.timers.lock().expect("one thread").is_empty();
        let has_messages = !self.shared.messages.lock().expect("one thread").is_empty();
        !has_outbox && !has_timers && !has_messages
    }

    /// Starts what drives the nodes.
    pub(crate) fn drive(&self) {
        self.world.spawn(Owner::Outside, self.clone().fire_timers());
        self.world
            .spawn(Owner::Outside, self.clone().hand_out_messages());
        self.world.spawn(Owner::Outside, self.clone().sweep());
        self.world.spawn(Owner::Outside, self.clone().bring_back());
        self.world.spawn(Owner::Outside, self.clone().spread_news());
    }

    async fn fire_timers(self) {
        loop {
            let due: Vec<_> = {
                let now = self.world.now_ms();
                let timers = self.shared.timers.lock().expect("one thread");
                timers
                    .values()
                    .filter(|t| t.due.0 <= now)
                    .cloned()
                    .collect()
            };
            for timer in due {
                if self.world.chance(self.world.faults().twice) {
                    let (again, cluster) = (timer.clone(), self.clone());
                    self.world.spawn(Owner::Outside, async move {
                        cluster
                            .ask(|runtime| async move { runtime.fire_timer(&again).await.ok() })
                            .await;
                    });
                }
                let fired = timer.clone();
                let outcome = self
                    .ask(|runtime| async move { runtime.fire_timer(&fired).await })
                    .await;
                if matches!(
                    outcome,
                    Some(Ok(TimerOutcome::Fired(_) | TimerOutcome::Stale))
                ) {
                    self.shared
                        .timers
                        .lock()
                        .expect("one thread")
                        .remove(&timer.id());
                }
            }
            self.world.sleep(200 + self.world.below(600)).await;
        }
    }

    async fn hand_out_messages(self) {
        loop {
            let due: Vec<u64> = {
                let now = self.world.now_ms();
                let messages = self.shared.messages.lock().expect("one thread");
                messages
                    .iter()
                    .filter(|(_, m)| m.due_ms <= now)
                    .map(|(number, _)| *number)
                    .collect()
            };
            for number in due {
                let Some(queued) = self.take(number) else {
                    continue;
                };
                let cluster = self.clone();
                self.world.spawn(Owner::Outside, async move {
                    cluster.hand_out(number, queued).await
                });
            }
            self.world.sleep(50 + self.world.below(200)).await;
        }
    }

    /// Hides a message until its visibility ends, as SQS does.
    fn take(&self, number: u64) -> Option<super::ports::Queued> {
        let mut messages = self.shared.messages.lock().expect("one thread");
        let queued = messages.get_mut(&number)?;
        queued.due_ms = self.world.now_ms() + 30_000;
        queued.attempts += 1;
        Some(queued.clone())
    }

    async fn hand_out(self, number: u64, queued: super::ports::Queued) {
        let message = queued.message.clone();
        let delivered = self
            .ask(|runtime| async move { runtime.deliver(&message).await })
            .await;
        let is_done = matches!(delivered, Some(Ok(Delivered::Done)));
        if !is_done && queued.attempts >= 50 {
            let message = queued.message.clone();
            let given_up = self
                .ask(|runtime| async move {
                    runtime.give_up(&message, "too many attempts").await.is_ok()
                })
                .await;
            if given_up != Some(true) {
                return;
            }
        }
        let mut messages = self.shared.messages.lock().expect("one thread");
        if is_done || queued.attempts >= 50 {
            messages.remove(&number);
        } else if let Some(queued) = messages.get_mut(&number) {
            queued.due_ms = self.world.now_ms() + 1_000;
        }
    }

    async fn sweep(self) {
        loop {
            self.world.sleep(60_000).await;
            self.ask(|runtime| async move { runtime.sweep().await.is_ok() })
                .await;
        }
    }

    async fn bring_back(self) {
        loop {
            self.world.sleep(50 + self.world.below(2_000)).await;
            for number in 0..self.shape.nodes {
                if self.world.is_dead(number) {
                    self.restart(number);
                }
            }
        }
    }

    async fn spread_news(self) {
        loop {
            self.world.sleep(10 + self.world.below(5_000)).await;
            let news = std::mem::take(&mut *self.shared.news.lock().expect("one thread"));
            for (number, changed) in news {
                let runtime = self
                    .runtimes
                    .lock()
                    .expect("one thread")
                    .get(number)
                    .cloned();
                if let Some(runtime) = runtime {
                    runtime.invalidate(&changed);
                }
            }
        }
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
            let mut slot = self.0.lock().expect("one thread");
            slot.is_gone = true;
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
