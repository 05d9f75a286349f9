//! The ports of one node, but for the table: time, work in the background, timers, messages, calls, news.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::time::Timestamp;
use dormouse_runtime::Timer;
use dormouse_runtime::message::Message;
use dormouse_runtime::port::{
    Background, Broadcast, Bus, Clock, DefinitionChanged, HttpCaller, PortError, Queue, Scheduler,
    TaskRequest, Work,
};
use dormouse_store::table::blobs::Blobs;

use super::cluster::{Cluster, lock};
use super::fate::Fate;
use super::sabotage::Sabotage;
use super::world::{Owner, World};

/// One node's way to the world.
pub(crate) struct Node {
    pub(crate) cluster: Cluster,
    pub(crate) number: usize,
    /// What a planted bug remembers.
    pub(crate) remembered: super::table::Remembered,
}

impl Node {
    pub(crate) fn new(cluster: Cluster, number: usize) -> Self {
        Self {
            cluster,
            number,
            remembered: super::table::Remembered::default(),
        }
    }

    pub(crate) fn owner(&self) -> Owner {
        Owner::Node(self.number)
    }

    pub(crate) fn world(&self) -> &World {
        &self.cluster.world
    }

    async fn effect<T>(
        &self,
        name: &'static str,
        effect: impl FnOnce() -> T,
    ) -> Result<T, PortError> {
        let fate = self.world().point(self.owner(), name).await;
        if matches!(fate, Fate::Refused | Fate::Vanished) {
            return Err("refused".into());
        }
        let result = effect();
        self.world().maybe_crash(self.owner()).await;
        if fate == Fate::Well {
            Ok(result)
        } else {
            Err("the answer was lost".into())
        }
    }

    fn copies(&self) -> usize {
        1 + usize::from(self.world().chance(self.world().faults().twice))
    }
}

#[async_trait]
impl Clock for Node {
    fn now(&self) -> Timestamp {
        let world = self.world();
        Timestamp(world.now_ms() + world.skew_ms(self.number))
    }

    async fn sleep(&self, ms: u64) {
        self.world().sleep(ms).await;
    }

    fn random(&self) -> u64 {
        self.world().bits()
    }
}

impl Background for Node {
    fn spawn(&self, work: Work) {
        self.world().spawn(self.owner(), work);
    }
}

#[async_trait]
impl Scheduler for Node {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        let now_ms = self.now().0;
        self.effect("schedule", || self.cluster.schedule(timer, now_ms))
            .await
    }

    async fn forget(&self, timer: &Timer) -> Result<(), PortError> {
        let now_ms = self.now().0;
        self.effect("forget", || self.cluster.forget(timer, now_ms))
            .await
    }
}

#[async_trait]
impl Queue for Node {
    async fn send(&self, message: &Message, delay_ms: u64) -> Result<(), PortError> {
        self.effect("send", || self.cluster.enqueue(message.clone(), delay_ms))
            .await
    }
}

#[async_trait]
impl Bus for Node {
    async fn request_task(&self, request: &TaskRequest) -> Result<(), PortError> {
        let copies = self.copies();
        self.effect("request task", || {
            for _ in 0..copies {
                self.cluster.work_on(request);
            }
        })
        .await
    }
}

#[async_trait]
impl Broadcast for Node {
    async fn publish(&self, changed: &DefinitionChanged) -> Result<(), PortError> {
        if !self.cluster.plan.has_broadcast {
            return Err("nobody hears it".into());
        }
        self.effect("broadcast", || {
            for number in (0..self.cluster.plan.nodes).filter(|n| *n != self.number) {
                self.cluster.tell(number, changed.clone());
            }
        })
        .await
    }
}

#[async_trait]
impl HttpCaller for Node {
    async fn call(&self, request: &HttpRequest, _timeout_ms: u64) -> Answer {
        let world = self.world();
        let key = match self.cluster.shared.sabotage {
            Some(Sabotage::KeyNotStable) => {
                format!("{}-{:x}", request.idempotency_key, world.bits())
            }
            _ => request.idempotency_key.clone(),
        };
        // A call that fails is for the workflow to deal with; what matters here is that the node may die.
        world.point(self.owner(), "http").await;
        let times = {
            let mut requests = lock(&self.cluster.shared.requests);
            let times = requests.entry(key).or_default();
            *times += 1;
            *times
        };
        world.maybe_crash(self.owner()).await;
        let is_bad = request.url.ends_with("/flaky") && times == 1;
        Answer::Http {
            status: if is_bad { 503 } else { 200 },
            headers: BTreeMap::new(),
            body: b"{\"ok\":true}".to_vec(),
        }
    }
}

#[async_trait]
impl Blobs for Node {
    async fn put(&self, name: &str, value: Bytes) -> Result<(), PortError> {
        self.effect("put blob", || {
            lock(&self.cluster.shared.blobs).insert(name.to_owned(), value);
        })
        .await
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, PortError> {
        self.effect("get blob", || {
            lock(&self.cluster.shared.blobs).get(name).cloned()
        })
        .await
    }

    async fn delete(&self, name: &str) -> Result<(), PortError> {
        self.effect("delete blob", || {
            lock(&self.cluster.shared.blobs).remove(name);
        })
        .await
    }
}
