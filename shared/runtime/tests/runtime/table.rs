//! A table of one node: it counts calls, lets others go first, and can die between any two of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use async_trait::async_trait;
use dormouse_store::MemoryTable;
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};

/// When a node dies: never, or at a call.
const NEVER: i64 = i64::MAX;

/// What one node sees of the table that all nodes share.
pub(crate) struct NodeTable {
    shared: Arc<MemoryTable>,
    pub(crate) calls: AtomicUsize,
    /// Calls that still go through. Below zero: the node is dead.
    left: AtomicI64,
    /// Whether the call at which it dies still happens.
    last_happens: bool,
}

impl NodeTable {
    pub(crate) fn new(shared: Arc<MemoryTable>) -> Self {
        Self::dying(shared, NEVER, false)
    }

    /// A table of a node that dies at its call `at` (from 0).
    pub(crate) fn dying(shared: Arc<MemoryTable>, at: i64, last_happens: bool) -> Self {
        Self {
            shared,
            calls: AtomicUsize::new(0),
            left: AtomicI64::new(at),
            last_happens,
        }
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.left.load(Ordering::Relaxed) < 0
    }

    async fn call<T>(&self, call: impl Future<Output = T>) -> T {
        // Whoever else is ready goes first, so that races happen.
        tokio::task::yield_now().await;
        self.calls.fetch_add(1, Ordering::Relaxed);
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        if left > 0 {
            return call.await;
        }
        self.left.store(-1, Ordering::Relaxed);
        if left == 0 && self.last_happens {
            call.await;
        }
        std::future::pending().await
    }
}

#[async_trait]
impl Table for NodeTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        self.call(self.shared.get(key)).await
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.call(self.shared.query(query)).await
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        durability: Durability,
    ) -> Result<Updated, TableError> {
        self.call(self.shared.update(key, changes, condition, durability))
            .await
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        self.call(self.shared.write(writes)).await
    }
}
