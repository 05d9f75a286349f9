//! The ports of one node in a simulated world.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::time::Timestamp;
use dormouse_runtime::Timer;
use dormouse_runtime::message::Message;
use dormouse_runtime::port::{
    Background, Broadcast, Clock, DefinitionChanged, HttpCaller, PortError, Queue, Scheduler, Work,
};
use dormouse_store::MemoryTable;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};

use super::world::{Fate, Owner, World};

/// What all nodes share: what AWS would keep.
#[derive(Default)]
pub(crate) struct Shared {
    /// The table.
    pub(crate) table: Arc<MemoryTable>,
    /// Timers by id; whoever drives the world fires them.
    pub(crate) timers: Mutex<BTreeMap<String, Timer>>,
    /// Messages by number, with the time from which on they may be handled.
    pub(crate) messages: Mutex<BTreeMap<u64, Queued>>,
    /// Requests that were made, by idempotency key: how often.
    pub(crate) requests: Mutex<BTreeMap<String, u32>>,
    /// Nodes that have yet to hear that a definition changed.
    pub(crate) news: Mutex<Vec<(usize, DefinitionChanged)>>,
}

/// A message in the queue.
#[derive(Clone)]
pub(crate) struct Queued {
    /// What to do.
    pub(crate) message: Message,
    /// From when on.
    pub(crate) due_ms: i64,
    /// How often it was handed out.
    pub(crate) attempts: u32,
}

/// One node's way to the world.
#[derive(Clone)]
pub(crate) struct Node {
    /// Its number.
    pub(crate) number: usize,
    /// The world.
    pub(crate) world: World,
    /// What it shares with the others.
    pub(crate) shared: Arc<Shared>,
    /// How many nodes there are.
    pub(crate) nodes: usize,
    /// How far its clock is off, ms.
    pub(crate) skew_ms: i64,
}

impl Node {
    fn owner(&self) -> Owner {
        Owner::Node(self.number)
    }

    async fn effect<T>(
        &self,
        name: &'static str,
        effect: impl FnOnce() -> T,
    ) -> Result<T, PortError> {
        let fate = self.world.point(self.owner(), name).await;
        if fate == Fate::Refused {
            return Err("refused".into());
        }
        let result = effect();
        self.world.maybe_crash(self.owner()).await;
        if fate == Fate::Lost {
            Err("the answer was lost".into())
        } else {
            Ok(result)
        }
    }
}

fn lost() -> TableError {
    TableError::Unknown("the answer was lost".into())
}

#[async_trait]
impl Table for Node {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        if self.world.point(self.owner(), "get").await == Fate::Refused {
            return Err(TableError::Busy);
        }
        self.shared.table.get(key).await
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        if self.world.point(self.owner(), "query").await == Fate::Refused {
            return Err(TableError::Busy);
        }
        self.shared.table.query(query).await
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        let fate = self.world.point(self.owner(), "update").await;
        if fate == Fate::Refused {
            return Err(TableError::Busy);
        }
        let updated = self
            .shared
            .table
            .update(key, changes, condition, durability)
            .await?;
        self.world.note(|| {
            let how = if matches!(updated, Updated::New(_)) {
                "done"
            } else {
                "refused"
            };
            format!("{:?}   {how}: {key:?} {changes:?}", self.owner())
        });
        self.world.maybe_crash(self.owner()).await;
        if fate == Fate::Lost {
            Err(lost())
        } else {
            Ok(updated)
        }
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        let fate = self.world.point(self.owner(), "write").await;
        if fate == Fate::Refused {
            return Err(TableError::Busy);
        }
        let written = self.shared.table.write(writes).await?;
        self.world.note(|| {
            let how = if written == Written::Done {
                "done"
            } else {
                "refused"
            };
            let keys: Vec<_> = writes.iter().map(Write::key).collect();
            format!("{:?}   {how}: {keys:?}", self.owner())
        });
        self.world.maybe_crash(self.owner()).await;
        if fate == Fate::Lost {
            Err(lost())
        } else {
            Ok(written)
        }
    }
}

#[async_trait]
impl Clock for Node {
    fn now(&self) -> Timestamp {
        Timestamp(self.world.now_ms() + self.skew_ms)
    }

    async fn sleep(&self, ms: u64) {
        self.world.sleep(ms).await;
    }

    fn random(&self) -> u64 {
        self.world.bits()
    }
}

impl Background for Node {
    fn spawn(&self, work: Work) {
        self.world.spawn(self.owner(), work);
    }
}

#[async_trait]
impl Scheduler for Node {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        self.effect("schedule", || {
            self.shared
                .timers
                .lock()
                .expect("one thread")
                .insert(timer.id(), timer.clone());
        })
        .await
    }

    async fn forget(&self, timer: &Timer) -> Result<(), PortError> {
        self.effect("forget", || {
            self.shared
                .timers
                .lock()
                .expect("one thread")
                .remove(&timer.id());
        })
        .await
    }
}

#[async_trait]
impl Queue for Node {
    async fn send(&self, message: &Message, delay_ms: u64) -> Result<(), PortError> {
        let copies = if self.world.chance(self.world.faults().twice) {
            2
        } else {
            1
        };
        self.effect("send", || {
            let due_ms = self.world.now_ms() + i64::try_from(delay_ms).unwrap_or(0);
            let mut messages = self.shared.messages.lock().expect("one thread");
            for _ in 0..copies {
                let number = self.world.bits();
                messages.insert(
                    number,
                    Queued {
                        message: message.clone(),
                        due_ms,
                        attempts: 0,
                    },
                );
            }
        })
        .await
    }
}

#[async_trait]
impl Broadcast for Node {
    async fn publish(&self, changed: &DefinitionChanged) -> Result<(), PortError> {
        self.effect("broadcast", || {
            let mut news = self.shared.news.lock().expect("one thread");
            news.extend(
                (0..self.nodes)
                    .filter(|n| *n != self.number)
                    .map(|n| (n, changed.clone())),
            );
        })
        .await
    }
}

#[async_trait]
impl HttpCaller for Node {
    async fn call(&self, request: &HttpRequest, _timeout_ms: u64) -> Answer {
        let key = request.idempotency_key.clone();
        let made = self
            .effect("http", || {
                *self
                    .shared
                    .requests
                    .lock()
                    .expect("one thread")
                    .entry(key)
                    .or_default() += 1;
            })
            .await;
        match made {
            Ok(()) => Answer::Http {
                status: 200,
                headers: BTreeMap::new(),
                body: b"{\"ok\":true}".to_vec(),
            },
            Err(error) => Answer::FailedToConnect {
                message: error.to_string(),
            },
        }
    }
}
