//! A node's way to the world: each call waits for its turn, and what it shows becomes part of what the node has seen.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::id::splitmix;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::Timer;
use dormouse_runtime::port::{Background, Clock, HttpCaller, PortError, Scheduler, Work};
use dormouse_store::MemoryTable;
use dormouse_store::table::{
    Attributes, Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated,
    Value, Write, Written,
};

use super::law;
use super::plant::Plant;
use super::world::{Fate, Kind, Owner, World};

/// What all nodes share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) table: MemoryTable,
    /// Timers by id.
    pub(crate) timers: Mutex<BTreeMap<String, Timer>>,
    /// How often each HTTP request was made, by its key.
    pub(crate) requests: Mutex<BTreeMap<String, u32>>,
    /// A number for all items of the table: each one's, together.
    print: AtomicU64,
}

impl Shared {
    /// A number for all of it.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.print.load(Ordering::Relaxed).hash(&mut hasher);
        self.timers
            .lock()
            .unwrap()
            .keys()
            .for_each(|id| id.hash(&mut hasher));
        self.requests.lock().unwrap().hash(&mut hasher);
        hasher.finish()
    }

    fn mark(&self, item: Option<&Item>) {
        if let Some(item) = item {
            self.print.fetch_xor(seen_of([item], 0), Ordering::Relaxed);
        }
    }
}

/// What definitions lie under.
const DEFINITIONS: [&str; 3] = ["/DEF#", "/VID#", "/TYPE#"];

fn hash_item(item: &Item, hasher: &mut DefaultHasher) {
    item.key.hash(hasher);
    hash_attributes(&item.attributes, hasher);
}

fn hash_attributes(attributes: &Attributes, hasher: &mut DefaultHasher) {
    attributes.len().hash(hasher);
    for (name, value) in attributes {
        name.hash(hasher);
        match value {
            Value::S(text) => text.hash(hasher),
            Value::N(number) => number.hash(hasher),
            Value::B(bytes) => bytes.hash(hasher),
            Value::Ss(set) => set.hash(hasher),
        }
    }
}

fn seen_of<'a>(items: impl IntoIterator<Item = &'a Item>, what: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    items
        .into_iter()
        .for_each(|item| hash_item(item, &mut hasher));
    hasher.finish()
}

/// One life of one node.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) number: usize,
    pub(crate) world: World,
    pub(crate) shared: Arc<Shared>,
    pub(crate) plant: Plant,
    /// How far its clock is ahead, ms.
    pub(crate) skew_ms: i64,
    /// Whether timers lie in the table rather than with somebody else.
    pub(crate) has_table_timers: bool,
    /// Whether definitions never change here: then it does not matter when they are read.
    pub(crate) has_fixed_definitions: bool,
    /// What the first read of each definition showed, for the planted bug that believes it.
    pub(crate) looked: Arc<Mutex<BTreeMap<String, Page>>>,
    pub(crate) drawn: Arc<AtomicU64>,
}

impl Node {
    fn owner(&self) -> Owner {
        Owner::Node(self.number)
    }

    async fn at(&self, kind: Kind, what: impl FnOnce() -> String) -> Fate {
        let what = if self.world.is_traced() {
            what()
        } else {
            String::new()
        };
        self.world.point(self.owner(), kind, what).await
    }

    /// A read begins.
    async fn reads(&self, partition: &str, sort: &str) {
        let is_fixed = DEFINITIONS.iter().any(|word| partition.contains(word));
        if !(is_fixed && self.has_fixed_definitions) {
            self.at(Kind::Read, || format!("read {partition} {sort}"))
                .await;
        }
    }

    fn see(&self, what: u64) {
        self.world.see(self.owner(), what);
    }

    /// Does something to items, and holds what became of them to the law.
    async fn change<T>(
        &self,
        keys: Vec<Key>,
        change: impl Future<Output = Result<T, TableError>>,
    ) -> Result<T, TableError> {
        let mut before = Vec::new();
        for key in keys {
            let item = self.shared.table.get(&key).await?;
            before.push((key, item));
        }
        let changed = change.await?;
        for (key, before) in before {
            let after = self.shared.table.get(&key).await?;
            if before == after {
                continue;
            }
            self.shared.mark(before.as_ref());
            self.shared.mark(after.as_ref());
            let is_definition = DEFINITIONS.iter().any(|word| key.partition.contains(word));
            if is_definition && self.has_fixed_definitions {
                self.world.is_wrong(format!("{key:?} was to stay as it is"));
            }
            if let Some(what) = law::broken(&key, before.as_ref(), after.as_ref()) {
                self.world.is_wrong(format!("{}: {what}", key.partition));
            }
        }
        Ok(changed)
    }

    async fn write_all(&self, writes: &[Write]) -> Result<Written, TableError> {
        let keys = writes.iter().map(|write| write.key().clone()).collect();
        self.change(keys, self.shared.table.write(writes)).await
    }
}

fn lost(fate: Fate) -> TableError {
    TableError::Unknown(format!("{fate:?}").into())
}

#[async_trait]
impl Table for Node {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.reads(&key.partition, &key.sort).await;
        let item = match self.plant.stale_read(&self.looked, key) {
            Some(item) => item,
            None => self.shared.table.get(key).await?,
        };
        self.plant.remember_read(&self.looked, key, item.as_ref());
        self.see(seen_of(item.as_ref(), 1));
        Ok(item)
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.reads(&query.partition, &query.from).await;
        let page = self.shared.table.query(query).await?;
        self.see(seen_of(&page.items, 2));
        Ok(page)
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        let fate = self
            .at(Kind::Write, || {
                format!("update {} {}", key.partition, key.sort)
            })
            .await;
        if fate == Fate::RequestLost {
            return Err(lost(fate));
        }
        let condition = self.plant.condition(condition);
        let table = &self.shared.table;
        let update = table.update(key, changes, &condition, durability);
        let updated = self.change(vec![key.clone()], update).await?;
        if fate == Fate::AnswerLost {
            return Err(lost(fate));
        }
        self.see(match &updated {
            Updated::New(item) => seen_of([item], 3),
            Updated::Refused(item) => seen_of(item.as_ref(), 4),
        });
        Ok(updated)
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        let name = |write: &Write| format!("{} {}", write.key().partition, write.key().sort);
        let what = || writes.iter().map(name).collect::<Vec<_>>().join(", ");
        let fate = self.at(Kind::Write, || format!("write {}", what())).await;
        let writes = self.plant.writes(writes);
        if fate == Fate::RequestLost {
            return Err(lost(fate));
        }
        let written = if self.plant == Plant::TornWrites {
            let mut all = Written::Done;
            for write in &writes {
                self.at(Kind::Write, || "…a part of it".into()).await;
                let one = self.write_all(std::slice::from_ref(write)).await?;
                if one != Written::Done {
                    all = Written::Refused(
                        writes
                            .iter()
                            .map(|w| (w == write).then_some(None))
                            .collect(),
                    );
                    break;
                }
            }
            all
        } else {
            self.write_all(&writes).await?
        };
        if fate == Fate::AnswerLost {
            return Err(lost(fate));
        }
        self.see(match &written {
            Written::Done => 5,
            Written::Refused(items) => seen_of(items.iter().flatten().flatten(), 6),
        });
        Ok(written)
    }
}

#[async_trait]
impl Clock for Node {
    fn now(&self) -> Timestamp {
        Timestamp(self.world.now_ms() + self.skew_ms)
    }

    async fn sleep(&self, ms: u64) {
        self.world.sleep(self.owner(), ms).await;
    }

    fn random(&self) -> u64 {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        let life = ((self.number as u64 + 1) << 40) ^ (self.world.births(self.number) << 32);
        splitmix(drawn ^ life)
    }
}

impl Background for Node {
    fn spawn(&self, work: Work) {
        self.world.spawn(self.owner(), work);
    }
}

/// How many shards the timers of the explored table have.
pub(crate) const TIMER_SHARDS: u16 = 1;

/// A timer as it lies in the table.
fn row(timer: &Timer) -> Result<dormouse_store::stimulus::timer::Timer, PortError> {
    Ok(dormouse_store::stimulus::timer::Timer {
        tenant: timer.tenant.clone(),
        id: timer.id(),
        due_ms: timer.due.0,
        body: serde_json::to_vec(timer)?.into(),
    })
}

#[async_trait]
impl Scheduler for Node {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        let fate = self
            .at(Kind::Write, || format!("schedule {}", timer.id()))
            .await;
        if fate != Fate::RequestLost {
            match self.schedule_write(timer)? {
                Some(write) => drop(self.write_all(&[write]).await?),
                None => {
                    let mut timers = self.shared.timers.lock().unwrap();
                    timers.insert(timer.id(), timer.clone());
                }
            }
        }
        if fate == Fate::Well {
            Ok(())
        } else {
            Err(lost(fate).into())
        }
    }

    fn schedule_write(&self, timer: &Timer) -> Result<Option<Write>, PortError> {
        if !self.has_table_timers {
            return Ok(None);
        }
        Ok(Some(row(timer)?.set(TIMER_SHARDS)?))
    }

    fn forget_write(&self, timer: &Timer) -> Result<Option<Write>, PortError> {
        if !self.has_table_timers {
            return Ok(None);
        }
        Ok(Some(row(timer)?.clear(TIMER_SHARDS)?))
    }

    async fn forget(&self, timer: &Timer) -> Result<(), PortError> {
        let fate = self
            .at(Kind::Write, || format!("forget {}", timer.id()))
            .await;
        if fate == Fate::RequestLost {
            return Err(lost(fate).into());
        }
        if let Some(write) = self.forget_write(timer)? {
            self.write_all(&[write]).await?;
        }
        self.shared.timers.lock().unwrap().remove(&timer.id());
        Ok(())
    }
}

#[async_trait]
impl HttpCaller for Node {
    async fn call(&self, request: &HttpRequest, _timeout_ms: u64) -> Answer {
        let fate = self
            .at(Kind::Write, || format!("http {}", request.url))
            .await;
        if fate != Fate::RequestLost {
            let mut requests = self.shared.requests.lock().unwrap();
            *requests.entry(request.idempotency_key.clone()).or_default() += 1;
        }
        if fate == Fate::Well {
            Answer::Http {
                status: 200,
                headers: BTreeMap::new(),
                body: b"{}".to_vec(),
            }
        } else {
            Answer::FailedToConnect {
                message: "the answer was lost".into(),
            }
        }
    }
}
