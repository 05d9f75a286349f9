//! The `Runtime`: the store, the ports, and the use cases on them. Each use case is in the file of its name.

pub(crate) mod config;
pub(crate) mod event_links;
pub(crate) mod handle;
pub(crate) mod inbox;
pub(crate) mod invocation;
pub(crate) mod outgoing;
pub(crate) mod pause;
pub(crate) mod polls;
pub(crate) mod running;
pub(crate) mod secret_filling;
pub(crate) mod secret_redaction;
pub(crate) mod secret_references;
pub(crate) mod secret_values;
pub(crate) mod settings;
pub(crate) mod task_lines;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dormouse_engine::id::hex;
use dormouse_engine::step::Environment;
use dormouse_engine::time::Timestamp;
use dormouse_expressions::Expressions;
use dormouse_store::Store;
use dormouse_store::item::backoff::Backoff;

use crate::graph::cache::Cache;
use crate::port::{Measure, Metric, Ports};
use crate::runtime::config::RuntimeConfig;
use crate::runtime::event_links::EventLinkKey;
use crate::runtime::handle::handle;
use crate::runtime::inbox::Inboxes;
use crate::runtime::invocation::Invocation;
use crate::runtime::outgoing::Outgoing;
use crate::runtime::pause::KnownPause;
use crate::runtime::polls::Polls;
use crate::runtime::running::Running;
use crate::runtime::secret_values::KnownSecrets;
use crate::runtime::task_lines::TaskLines;

handle!(
    /// The pause of the whole deployment.
    pub Pauses,
    pauses
);

/// Everything the use cases need. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
    invocation: Invocation,
    /// The message that led to the work at hand; only where somebody watches.
    cause: Option<Arc<str>>,
}

struct Inner {
    outgoing: &'static dyn Outgoing,
    store: Store,
    ports: Ports,
    expressions: Arc<Expressions>,
    config: RuntimeConfig,
    cache: Cache,
    /// Tells this run of the node from others under the same name.
    boot: u64,
    bursts: AtomicU64,
    audited: AtomicU64,
    has_swept: AtomicBool,
    /// Sweeps of this node so far: each begins at another shard.
    sweeps: AtomicU64,
    /// Where the next sweep goes on in the queued stimuli of each shard.
    queue_cursors: Mutex<BTreeMap<u16, String>>,
    inboxes: Inboxes,
    running: Running,
    event_link_key: OnceLock<EventLinkKey>,
    /// What references to secrets are signed with.
    secret_key: OnceLock<Arc<[u8]>>,
    known_secrets: KnownSecrets,
    pause: KnownPause,
    /// How many requests for tasks wait.
    polls: Polls,
    /// What they take from.
    task_lines: TaskLines,
}

impl Runtime {
    /// A runtime over a store and ports, whose effects go where `outgoing` takes them.
    #[must_use]
    pub(crate) fn with_outgoing(
        store: Store,
        ports: Ports,
        expressions: Arc<Expressions>,
        config: RuntimeConfig,
        outgoing: &'static dyn Outgoing,
    ) -> Self {
        let inner = Inner {
            cache: Cache::new(config.cached_nodes_max),
            boot: ports.clock.random(),
            bursts: AtomicU64::new(0),
            audited: AtomicU64::new(0),
            has_swept: AtomicBool::new(false),
            sweeps: AtomicU64::new(0),
            queue_cursors: Mutex::default(),
            inboxes: Inboxes::default(),
            running: Running::default(),
            event_link_key: OnceLock::new(),
            secret_key: OnceLock::new(),
            known_secrets: KnownSecrets::default(),
            pause: KnownPause::default(),
            polls: Polls::default(),
            task_lines: TaskLines::default(),
            outgoing,
            store,
            ports,
            expressions,
            config,
        };
        Self {
            inner: Arc::new(inner),
            invocation: Invocation::default(),
            cause: None,
        }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// The ports.
    #[must_use]
    pub fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    /// How it behaves.
    #[must_use]
    pub fn config(&self) -> &RuntimeConfig {
        &self.inner.config
    }

    /// What runs scripts.
    #[must_use]
    pub(crate) fn expressions(&self) -> &Expressions {
        &self.inner.expressions
    }

    /// Reports a number to whoever counts.
    pub(crate) fn record(&self, metric: Metric, value: i64) {
        if let Some(metrics) = &self.inner.ports.metrics {
            metrics.record(Measure { metric, value });
        }
    }

    /// Where effects go.
    pub(crate) fn outgoing(&self) -> &'static dyn Outgoing {
        self.inner.outgoing
    }

    pub(crate) fn invocation(&self) -> Invocation {
        self.invocation
    }

    pub(crate) fn with_invocation(&self, invocation: Invocation) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            invocation,
            cause: self.cause.clone(),
        }
    }

    /// The id of the message that led to the work at hand.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// Notes it, where somebody watches.
    pub(crate) fn with_cause(self, message: &str) -> Self {
        let is_watched = self.inner.ports.observer.is_some();
        Self {
            cause: is_watched.then(|| message.into()),
            ..self
        }
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.inner.cache
    }

    /// What this node knows of a pause.
    pub(crate) fn known_pause(&self) -> &KnownPause {
        &self.inner.pause
    }

    pub(crate) fn event_link_key(&self) -> Option<&EventLinkKey> {
        self.inner.event_link_key.get()
    }

    /// The first one counts: a deployment has one key, and a process one address.
    pub(crate) fn set_event_link_key(&self, key: EventLinkKey) {
        let _is_set_before = self.inner.event_link_key.set(key);
    }

    /// What references to secrets are signed with. `None`: there are none.
    pub(crate) fn secret_key(&self) -> Option<&Arc<[u8]>> {
        self.inner.secret_key.get()
    }

    /// The first one counts: a deployment has one key.
    pub(crate) fn set_secret_key(&self, key: Arc<[u8]>) {
        let _is_set_before = self.inner.secret_key.set(key);
    }

    pub(crate) fn known_secrets(&self) -> &KnownSecrets {
        &self.inner.known_secrets
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.ports.clock.now()
    }

    /// An id as Elsa makes them: 16 random hexadecimal digits.
    pub(crate) fn new_id(&self) -> String {
        hex(self.inner.ports.clock.random())
    }

    /// A name for the holder of one lease that nobody else has.
    pub(crate) fn owner(&self) -> String {
        let burst = self.inner.bursts.fetch_add(1, Ordering::Relaxed);
        format!("{}/{:x}/{burst:x}", self.inner.config.node, self.inner.boot)
    }

    /// A number for a record, greater than the one before.
    pub(crate) fn next_audited(&self) -> u64 {
        self.inner.audited.fetch_add(1, Ordering::Relaxed)
    }

    /// The inboxes of the instances that this node works on.
    pub(crate) fn inboxes(&self) -> &Inboxes {
        &self.inner.inboxes
    }

    /// The number of the sweep that begins.
    pub(crate) fn next_sweep(&self) -> u64 {
        self.inner.sweeps.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn queue_cursor(&self, shard: u16) -> Option<String> {
        let cursors = self.inner.queue_cursors.lock();
        let cursors = cursors.unwrap_or_else(PoisonError::into_inner);
        cursors.get(&shard).cloned()
    }

    pub(crate) fn set_queue_cursor(&self, shard: u16, cursor: Option<String>) {
        let cursors = self.inner.queue_cursors.lock();
        let mut cursors = cursors.unwrap_or_else(PoisonError::into_inner);
        match cursor {
            Some(cursor) => cursors.insert(shard, cursor),
            None => cursors.remove(&shard),
        };
    }

    /// Begins a sweep. True: it is the first of this process.
    pub(crate) fn begin_sweep(&self) -> bool {
        !self.inner.has_swept.swap(true, Ordering::Relaxed)
    }

    /// The first sweep has not found what was left: the next one is the first.
    pub(crate) fn sweep_failed(&self) {
        self.inner.has_swept.store(false, Ordering::Relaxed);
    }

    /// How many requests for tasks wait.
    pub(crate) fn polls(&self) -> &Polls {
        &self.inner.polls
    }

    /// The tasks that workers may take, as far as they are known.
    pub(crate) fn task_lines(&self) -> &TaskLines {
        &self.inner.task_lines
    }

    /// The steps of this process that run scripts.
    pub(crate) fn running(&self) -> &Running {
        &self.inner.running
    }

    /// What a step outside any burst is given.
    pub(crate) fn environment(&self) -> Environment<'_> {
        Environment {
            limits: self.inner.config.limits,
            passes_tokens: self.inner.config.passes_tokens,
            ..Environment::new(self.now(), &self.inner.expressions)
        }
    }

    /// Waits before the attempt after `attempt` (from 1) at a busy table. False: that was the last one.
    pub(crate) async fn back_off(&self, attempt: u32) -> bool {
        self.record(Metric::TableThrottled, 1);
        self.wait_after(attempt).await
    }

    /// Waits before the attempt after `attempt` (from 1) at whatever failed. False: that was the last one.
    pub(crate) async fn wait_after(&self, attempt: u32) -> bool {
        let backoff = Backoff::default();
        if attempt >= backoff.attempts_max {
            return false;
        }
        let clock = &self.inner.ports.clock;
        clock.sleep(backoff.wait_ms(attempt, clock.random())).await;
        true
    }
}
