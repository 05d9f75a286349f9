//! A store over a table in memory, and short words for what tests do most.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use dormouse_store::definition::head::VersionInfo;
use dormouse_store::definition::publish::Draft;
use dormouse_store::instance::commit::{Commit, Committed, Prepared};
use dormouse_store::instance::create::NewInstance;
use dormouse_store::instance::head::{InstanceHead, Summary};
use dormouse_store::instance::lease::{Loaded, Open, Opened};
use dormouse_store::instance::predecessor::Predecessor;
use dormouse_store::instance::stamp::{Stamp, Verdict};
use dormouse_store::instance::uniqueness::Claim;
use dormouse_store::item::config::StoreConfig;
use dormouse_store::outbox::row::OutboxKey;
use dormouse_store::stimulus::bookmark::{BookmarkRow, FoundBy, NewBookmark};
use dormouse_store::stimulus::queued_stimulus::QueuedStimulus;
use dormouse_store::{MemoryTable, MeteredTable, Store, Tenant};

pub(crate) use crate::rig_table::{Cost, Fault};
use crate::rig_table::{MemoryBlobs, RigTable};

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

/// No two attempts share their identifier.
static LAST_ATTEMPT: AtomicU64 = AtomicU64::new(0x1234_5678_9abc_0000);

/// The commit of a burst after which the instance waits, with one journal line: another attempt at each call.
pub(crate) fn commit(state: &str) -> Commit {
    Commit {
        attempt: LAST_ATTEMPT.fetch_add(1, Ordering::Relaxed),
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

/// What to open, by whom and when.
pub(crate) fn opening<'a>(instance_id: &'a str, owner: &'a str, now_ms: i64) -> Open<'a> {
    Open {
        instance_id,
        owner,
        now_ms,
        reopens: false,
    }
}

fn loaded(opened: Opened) -> Loaded {
    match opened {
        Opened::Loaded(loaded) => *loaded,
        other => panic!("not opened: {other:?}"),
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

    /// Makes the definition known that lists look for instances of.
    pub(crate) fn define(&self, id: &str) {
        let info = VersionInfo {
            version: 1,
            version_id: format!("{id}:1"),
            ..VersionInfo::default()
        };
        let draft = Draft {
            definition_id: id.into(),
            info,
            ..Draft::default()
        };
        now(self.store.definitions().save_draft(&self.tenant, &draft)).unwrap();
    }

    /// An instance that its first commit creates.
    pub(crate) fn blank(&self, id: &str, claims: &[Claim], predecessor: Predecessor) -> Loaded {
        let new = NewInstance {
            instance_id: id,
            owner: "creator",
            claims,
            predecessor,
        };
        self.store.instances().blank(&self.tenant, &new).unwrap()
    }

    pub(crate) fn try_create(&self, id: &str, commit: &Commit) -> Committed {
        let mut loaded = self.blank(id, &[], Predecessor::default());
        self.commit(&mut loaded, commit)
    }

    pub(crate) fn create(&self, id: &str, commit: &Commit) -> (Loaded, Vec<OutboxKey>) {
        let mut loaded = self.blank(id, &[], Predecessor::default());
        match self.commit(&mut loaded, commit) {
            Committed::Done(outbox) => (loaded, outbox),
            other => panic!("not created: {other:?}"),
        }
    }

    /// Opens an instance by reading it.
    pub(crate) fn try_open(&self, id: &str, now_ms: i64) -> Opened {
        let open = opening(id, "reader", now_ms);
        now(self.store.leases().open(&self.tenant, &open)).unwrap()
    }

    pub(crate) fn open(&self, id: &str, now_ms: i64) -> Loaded {
        loaded(self.try_open(id, now_ms))
    }

    /// Opens an instance by taking its lease for 30 s.
    pub(crate) fn try_lease(&self, id: &str, owner: &str, now_ms: i64) -> Opened {
        let open = opening(id, owner, now_ms);
        now(self
            .store
            .leases()
            .lease(&self.tenant, &open, now_ms + 30_000))
        .unwrap()
    }

    pub(crate) fn lease(&self, id: &str, owner: &str, now_ms: i64) -> Loaded {
        loaded(self.try_lease(id, owner, now_ms))
    }

    pub(crate) fn commit(&self, loaded: &mut Loaded, commit: &Commit) -> Committed {
        now(self.store.commits().commit(loaded, commit)).unwrap()
    }

    /// Puts what a commit prepares, as a writer does that is frozen right after it.
    pub(crate) fn prepare(&self, loaded: &Loaded, commit: &Commit) -> Prepared {
        now(self.store.commits().prepare(loaded, commit)).unwrap()
    }

    /// The head as it is read.
    pub(crate) fn head(&self, id: &str) -> InstanceHead {
        now(self.store.instances().get(&self.tenant, id))
            .unwrap()
            .unwrap()
    }

    pub(crate) fn judge(&self, id: &str, stamp: &Stamp) -> Verdict {
        now(self.store.commits().judge(&self.tenant, id, stamp)).unwrap()
    }

    pub(crate) fn fence(&self, id: &str, stamp: &Stamp) -> Verdict {
        now(self.store.commits().fence(&self.tenant, id, stamp, 5_000)).unwrap()
    }

    /// All rows of bookmarks of a hash.
    pub(crate) fn rows(&self, hash: &str) -> Vec<BookmarkRow> {
        let mut rows = Vec::new();
        let mut cursor = None;
        loop {
            let page = self
                .store
                .stimuli()
                .waiting(&self.tenant, (hash, None), 1_000, cursor);
            let page = now(page).unwrap();
            rows.extend(page.bookmarks);
            cursor = page.cursor;
            if cursor.is_none() {
                return rows;
            }
        }
    }

    /// The queued stimuli of every shard, so many a page.
    pub(crate) fn list_queued(&self, limit: u32) -> Vec<(Tenant, QueuedStimulus)> {
        let mut found = Vec::new();
        for shard in 0..self.store.outbox().shards() {
            let mut cursor = None;
            loop {
                let page = now(self.store.stimuli().list_queued(shard, limit, cursor)).unwrap();
                found.extend(page.0);
                cursor = page.1;
                if cursor.is_none() {
                    break;
                }
            }
        }
        found
    }

    /// Whether the bookmark of a row is open: by the attempt, as a delivery asks.
    pub(crate) fn is_open(&self, row: &BookmarkRow) -> bool {
        let head = self.head(&row.instance_id);
        let open = head.bookmarks.get(&row.bookmark_id);
        open.is_some_and(|open| open.attempt == row.stamp.attempt)
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
        now(self.store.instances().instance_with_state(&self.tenant, id))
            .unwrap()
            .unwrap()
            .1
    }

    /// All lines of a journal, read a few at a time.
    pub(crate) fn journal(&self, id: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut from = 0;
        loop {
            let page = now(self.store.instances().journal(&self.tenant, id, from, 7))
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
