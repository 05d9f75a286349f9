//! A table in memory that counts its calls and, on demand, loses answers or refuses work; and blobs in memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use dormouse_store::item::error::Cause;
use dormouse_store::table::blobs::Blobs;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};
use dormouse_store::{MemoryTable, MeteredTable};

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
pub(crate) type Hook = Box<dyn FnOnce(&MemoryTable) + Send>;

/// The table under test's feet.
pub(crate) struct RigTable {
    pub(crate) memory: Arc<MemoryTable>,
    pub(crate) meter: MeteredTable,
    pub(crate) faults: Mutex<VecDeque<Fault>>,
    pub(crate) calls: Mutex<Vec<String>>,
    pub(crate) before_write: Mutex<Option<Hook>>,
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

/// The kind of a write; `if` says that it has a condition.
fn kind(writes: &[Write]) -> String {
    match writes {
        [Write::Put(_, Condition::Always)] => "put".into(),
        [Write::Put(..)] => "put if".into(),
        [Write::Update(..)] => "change if".into(),
        [Write::Delete(_, Condition::Always)] => "delete".into(),
        [Write::Delete(..)] => "delete if".into(),
        several => format!("write {}", several.len()),
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
        match self.call(kind(writes), true) {
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
