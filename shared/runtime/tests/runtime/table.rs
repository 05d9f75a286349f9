//! A table of one node: it counts calls, lets others go first, and can die between any two of them or freeze for hours.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

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
    /// Where it freezes before it writes a head.
    freezes: AtomicBool,
    is_frozen: AtomicBool,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
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
            freezes: AtomicBool::new(false),
            is_frozen: AtomicBool::new(false),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
        }
    }

    /// A table of a node that freezes before its first write of a head.
    pub(crate) fn freezing(shared: Arc<MemoryTable>) -> Self {
        Self {
            freezes: AtomicBool::new(true),
            ..Self::new(shared)
        }
    }

    /// Lets the node die after so many more calls.
    pub(crate) fn die_after(&self, calls: i64) {
        self.left.store(calls, Ordering::Relaxed);
    }

    /// Counts calls at once from now on.
    pub(crate) fn watch(&self) {
        self.most_at_once.store(0, Ordering::Relaxed);
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.most_at_once.load(Ordering::Relaxed)
    }

    /// Lets a frozen node go on.
    pub(crate) fn thaw(&self) {
        self.freezes.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Relaxed)
    }

    async fn freeze_at(&self, mut keys: impl Iterator<Item = &Key> + Send) {
        if !keys.any(|key| key.sort == "HEAD") {
            return;
        }
        while self.freezes.load(Ordering::Relaxed) {
            self.is_frozen.store(true, Ordering::Relaxed);
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        self.is_frozen.store(false, Ordering::Relaxed);
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.left.load(Ordering::Relaxed) < 0
    }

    async fn call<T>(&self, call: impl Future<Output = T>) -> T {
        let at_once = self.at_once.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_at_once.fetch_max(at_once, Ordering::Relaxed);
        // Whoever else is ready goes first, so that races happen.
        tokio::task::yield_now().await;
        self.at_once.fetch_sub(1, Ordering::Relaxed);
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
        self.freeze_at(std::iter::once(key)).await;
        self.call(self.shared.update(key, changes, condition, durability))
            .await
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        self.freeze_at(writes.iter().map(Write::key)).await;
        self.call(self.shared.write(writes)).await
    }
}
