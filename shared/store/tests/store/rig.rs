//! A store over a table in memory that counts its calls and, on demand, loses answers or refuses work.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use bytes::Bytes;
use dormouse_store::blobs::Blobs;
use dormouse_store::bookmark::{FoundBy, NewBookmark};
use dormouse_store::commit::{Commit, Committed};
use dormouse_store::config::StoreConfig;
use dormouse_store::create::{Created, NewInstance};
use dormouse_store::error::Cause;
use dormouse_store::instance::Summary;
use dormouse_store::lease::{Acquire, Acquired, Lease, Wanted};
use dormouse_store::outbox::OutboxKey;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};
use dormouse_store::{MemoryTable, MeteredTable, Store, Tenant};

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It happens, but the answer is lost.
    LoseAnswer,
    /// It does not happen, and the answer is lost too.
    LoseCall,
    /// It is refused.
    Busy,
}

/// What calls cost, in units as DynamoDB counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) calls: u64,
    pub(crate) writes: u64,
    pub(crate) index_writes: u64,
    pub(crate) reads: u64,
}

/// What happens right before a write.
type Hook = Box<dyn FnOnce(&MemoryTable) + Send>;

/// The table under test's feet.
pub(crate) struct RigTable {
    pub(crate) memory: Arc<MemoryTable>,
    meter: MeteredTable,
    faults: Mutex<VecDeque<Fault>>,
    calls: Mutex<Vec<String>>,
    before_write: Mutex<Option<Hook>>,
}

impl RigTable {
    /// Counts a call, and answers what is to happen to it.
    fn call(&self, name: String, may_fail: bool) -> Fault {
        self.calls.lock().unwrap().push(name);
        if may_fail {
            self.faults
                .lock()
                .unwrap()
                .pop_front()
                .unwrap_or(Fault::None)
        } else {
            Fault::None
        }
    }
}

fn lost() -> TableError {
    TableError::Unknown("the answer was lost".into())
}

#[async_trait]
impl Table for RigTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.call("get".into(), false);
        self.meter.get(key).await
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.call("query".into(), false);
        self.meter.query(query).await
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        let update = || self.meter.update(key, changes, condition, durability);
        match self.call("update".into(), true) {
            Fault::None => update().await,
            Fault::LoseAnswer => update().await.and(Err(lost())),
            Fault::LoseCall => Err(lost()),
            Fault::Busy => Err(TableError::Busy),
        }
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        let hook = self.before_write.lock().unwrap().take();
        if let Some(hook) = hook {
            hook(&self.memory);
        }
        match self.call(format!("write {}", writes.len()), true) {
            Fault::None => self.meter.write(writes).await,
            Fault::LoseAnswer => self.meter.write(writes).await.and(Err(lost())),
            Fault::LoseCall => Err(lost()),
            Fault::Busy => Err(TableError::Busy),
        }
    }
}

/// Blobs in memory.
#[derive(Default)]
pub(crate) struct MemoryBlobs(pub(crate) Mutex<BTreeMap<String, Bytes>>);

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn put(&self, name: &str, value: Bytes) -> Result<(), Cause> {
        self.0.lock().unwrap().insert(name.to_owned(), value);
        Ok(())
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, Cause> {
        Ok(self.0.lock().unwrap().get(name).cloned())
    }

    async fn delete(&self, name: &str) -> Result<(), Cause> {
        self.0.lock().unwrap().remove(name);
        Ok(())
    }
}

/// Runs a future that never waits for anything outside.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a table in memory never waits"),
    }
}

/// A store, its table, and short words for what tests do most.
pub(crate) struct Rig {
    pub(crate) table: Arc<RigTable>,
    pub(crate) blobs: Arc<MemoryBlobs>,
    pub(crate) store: Store,
    pub(crate) tenant: Tenant,
}

pub(crate) fn rig() -> Rig {
    rig_with(|_| {})
}

pub(crate) fn rig_with(change: impl FnOnce(&mut StoreConfig)) -> Rig {
    let memory = Arc::new(MemoryTable::new());
    let table = Arc::new(RigTable {
        meter: MeteredTable::new(memory.clone()),
        memory,
        faults: Mutex::default(),
        calls: Mutex::default(),
        before_write: Mutex::default(),
    });
    let blobs = Arc::new(MemoryBlobs::default());
    let mut config = StoreConfig::dynamo();
    change(&mut config);
    let store = Store::new(table.clone(), config).with_blobs(blobs.clone());
    Rig {
        table,
        blobs,
        store,
        tenant: Tenant::new("acme").unwrap(),
    }
}

/// The commit of a burst after which the instance waits, with one journal line.
pub(crate) fn commit(state: &str) -> Commit {
    Commit {
        now_ms: 1_000,
        state: Bytes::copy_from_slice(state.as_bytes()),
        summary: Summary {
            definition_id: "order".into(),
            definition_version: 1,
            status: "Running".into(),
            sub_status: "Suspended".into(),
            created_ms: 1_000,
            updated_ms: 1_000,
            ..Summary::default()
        },
        journal: vec![Bytes::from(format!("line of {state}"))],
        ..Commit::default()
    }
}

/// The commit that ends the instance.
pub(crate) fn ending(state: &str) -> Commit {
    let mut commit = commit(state);
    commit.summary.status = "Finished".into();
    commit.summary.ended = true;
    commit
}

/// A bookmark that is found by its id.
pub(crate) fn bookmark(id: &str) -> NewBookmark {
    NewBookmark {
        id: id.into(),
        found_by: None,
    }
}

/// A bookmark that is found by a stimulus.
pub(crate) fn event_bookmark(id: &str, hash: &str) -> NewBookmark {
    let found_by = FoundBy {
        hash: hash.into(),
        ..FoundBy::default()
    };
    NewBookmark {
        id: id.into(),
        found_by: Some(found_by),
    }
}

impl Rig {
    /// The same table as a process sees it that has opened it for itself.
    pub(crate) fn in_epoch(&self, name: &str) -> Self {
        Self {
            table: self.table.clone(),
            blobs: self.blobs.clone(),
            store: self.store.clone().with_epoch(name),
            tenant: self.tenant.clone(),
        }
    }

    /// What is to happen to the next calls that write.
    pub(crate) fn faults(&self, faults: &[Fault]) {
        *self.table.faults.lock().unwrap() = faults.iter().copied().collect();
    }

    /// What is to happen right before the next write.
    pub(crate) fn before_write(&self, hook: impl FnOnce(&MemoryTable) + Send + 'static) {
        *self.table.before_write.lock().unwrap() = Some(Box::new(hook));
    }

    /// The calls since the last time it was asked.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut *self.table.calls.lock().unwrap())
    }

    /// The cost since the last time it was asked.
    pub(crate) fn cost(&self) -> Cost {
        let usage = self.table.meter.reset();
        let (total, half_units) = (usage.total(), usage.total().read_half_units);
        Cost {
            calls: total.calls,
            writes: total.write_units,
            index_writes: total.index_write_units,
            reads: half_units.div_ceil(2),
        }
    }

    pub(crate) fn try_create(&self, id: &str, commit: &Commit) -> Created {
        let new = NewInstance {
            instance_id: id,
            owner: "creator",
            claims: &[],
        };
        now(self.store.create(&self.tenant, &new, commit)).unwrap()
    }

    pub(crate) fn create(&self, id: &str, commit: &Commit) -> (Lease, Vec<OutboxKey>) {
        match self.try_create(id, commit) {
            Created::Done { lease, outbox } => (*lease, outbox),
            other => panic!("not created: {other:?}"),
        }
    }

    pub(crate) fn try_acquire(
        &self,
        id: &str,
        owner: &str,
        now_ms: i64,
        wanted: Option<(&str, u64)>,
    ) -> Acquired {
        let wanted = wanted.map(|(bookmark_id, commit)| Wanted {
            bookmark_id,
            commit,
        });
        let acquire = Acquire {
            instance_id: id,
            owner,
            now_ms,
            until_ms: now_ms + 30_000,
            wanted,
            reopens: false,
            event_id: None,
        };
        now(self.store.acquire(&self.tenant, &acquire)).unwrap()
    }

    pub(crate) fn acquire(&self, id: &str, owner: &str, now_ms: i64) -> Lease {
        match self.try_acquire(id, owner, now_ms, None) {
            Acquired::Lease(lease) => *lease,
            other => panic!("not acquired: {other:?}"),
        }
    }

    pub(crate) fn commit(&self, lease: &mut Lease, commit: &Commit) -> Committed {
        now(self.store.commit(lease, commit)).unwrap()
    }

    /// Every key of the table, partition and sort key with a space between.
    pub(crate) fn keys(&self) -> Vec<String> {
        let items = self.table.memory.items();
        items
            .iter()
            .map(|item| format!("{} {}", item.key.partition, item.key.sort))
            .collect()
    }

    /// The state as it is read without a lease.
    pub(crate) fn state(&self, id: &str) -> Bytes {
        now(self.store.instance_with_state(&self.tenant, id))
            .unwrap()
            .unwrap()
            .1
    }

    /// All lines of a journal, read a few at a time.
    pub(crate) fn journal(&self, id: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut from = 0;
        loop {
            let page = now(self.store.journal(&self.tenant, id, from, 7))
                .unwrap()
                .unwrap();
            for line in page.lines {
                assert_eq!(line.number, lines.len() as u64, "no gaps");
                lines.push(String::from_utf8(line.body.to_vec()).unwrap());
            }
            match page.next {
                Some(next) => from = next,
                None => return lines,
            }
        }
    }
}
