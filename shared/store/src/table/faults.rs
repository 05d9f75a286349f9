//! A table that fails on purpose: busy, full, silent, or with the answer lost after the deed. What fails when is a
//! plan's decision, by the number of the call; a plan that waits before it decides delays the call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use crate::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};

/// What goes wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It is refused as [`TableError::Busy`], and nothing happens.
    Busy,
    /// It is refused as [`TableError::Full`], and nothing happens.
    Full,
    /// It never arrives, and its answer is [`TableError::Unknown`].
    Lost,
    /// It is done, but its answer is [`TableError::Unknown`].
    AnswerLost,
    /// It never arrives, and there is no answer either: the caller crashed before it.
    Silence,
    /// It is done, and there is no answer: the caller crashed after it.
    SilenceAfter,
}

/// The kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// [`Table::get`].
    Get,
    /// [`Table::query`].
    Query,
    /// [`Table::update`].
    Update,
    /// [`Table::write`].
    Write,
}

/// A call that a plan decides about.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Its number, from 1, in the order in which calls begin.
    pub number: u64,
    /// Its kind.
    pub operation: Operation,
    /// The partition it is about; of several writes, the first one's.
    pub partition: &'a str,
}

/// Decides what goes wrong.
#[async_trait]
pub trait FaultPlan: Send + Sync + 'static {
    /// The fault of this call. Called once for each, before anything of it happens. Waiting here delays the call.
    async fn fault(&self, call: &Call<'_>) -> Fault;
}

/// A plan that names the calls that fail.
#[derive(Debug, Clone, Default)]
pub struct ScriptedFaults(pub BTreeMap<u64, Fault>);

#[async_trait]
impl FaultPlan for ScriptedFaults {
    async fn fault(&self, call: &Call<'_>) -> Fault {
        self.0.get(&call.number).copied().unwrap_or(Fault::None)
    }
}

/// A plan that draws lots: the same seed gives the same faults to the same calls.
#[derive(Debug, Clone)]
pub struct SeededFaults {
    /// The seed.
    pub seed: u64,
    /// How many of a thousand calls get which fault. The rest, if any, succeed.
    pub per_mille: Vec<(Fault, u16)>,
}

#[async_trait]
impl FaultPlan for SeededFaults {
    async fn fault(&self, call: &Call<'_>) -> Fault {
        let lot = mixed(self.seed ^ mixed(call.number)) % 1_000;
        let mut below = 0;
        for (fault, per_mille) in &self.per_mille {
            below += u64::from(*per_mille);
            if lot < below {
                return *fault;
            }
        }
        Fault::None
    }
}

/// `SplitMix64`'s finish: neighbouring numbers get lots that have nothing in common.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The error inside a [`TableError`] that was made on purpose.
#[derive(Debug, thiserror::Error)]
#[error("a fault on purpose, of call {0}")]
struct OnPurpose(u64);

/// A [`Table`] that fails as its plan says.
pub struct FaultyTable {
    inner: Arc<dyn Table>,
    plan: Arc<dyn FaultPlan>,
    calls: AtomicU64,
}

impl FaultyTable {
    /// The table, and who decides.
    #[must_use]
    pub fn new(inner: Arc<dyn Table>, plan: Arc<dyn FaultPlan>) -> Self {
        Self {
            inner,
            plan,
            calls: AtomicU64::new(0),
        }
    }

    /// How many calls have begun: the number of the last one.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Makes the call as the plan says.
    async fn make<T: Send>(
        &self,
        operation: Operation,
        partition: &str,
        call: impl Future<Output = Result<T, TableError>> + Send,
    ) -> Result<T, TableError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let fault = self
            .plan
            .fault(&Call {
                number,
                operation,
                partition,
            })
            .await;
        let on_purpose = || Box::new(OnPurpose(number));
        match fault {
            Fault::None => call.await,
            Fault::Busy => Err(TableError::Busy),
            Fault::Full => Err(TableError::Full(on_purpose())),
            Fault::Lost => Err(TableError::Unknown(on_purpose())),
            Fault::AnswerLost => {
                call.await?;
                Err(TableError::Unknown(on_purpose()))
            }
            Fault::Silence => std::future::pending().await,
            Fault::SilenceAfter => {
                call.await?;
                std::future::pending().await
            }
        }
    }
}

#[async_trait]
impl Table for FaultyTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.make(Operation::Get, &key.partition, self.inner.get(key))
            .await
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.make(Operation::Query, &query.partition, self.inner.query(query))
            .await
    }

    async fn count(&self, query: &Query, most: u64) -> Result<u64, TableError> {
        let count = self.inner.count(query, most);
        self.make(Operation::Query, &query.partition, count).await
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        let update = self.inner.update(key, changes, condition, durability);
        self.make(Operation::Update, &key.partition, update).await
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        let partition = writes.first().map_or("", |write| &write.key().partition);
        self.make(Operation::Write, partition, self.inner.write(writes))
            .await
    }
}
