//! Nodes over one table, a virtual clock, and ports that only take note.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::definition::Definition;
use dormouse_engine::id::splitmix;
use dormouse_engine::time::Timestamp;
use dormouse_expressions::Expressions;
use dormouse_runtime::port::{
    Background, Bus, Clock, HttpCaller, PortError, Ports, Scheduler, TaskRequest, Work,
};
use dormouse_runtime::{
    BurstReport, DefinitionHandle, PublishOutcome, ResumeOutcome, ResumeRequest, Runtime,
    RuntimeConfig, SaveOutcome, SigningSecret, StartOutcome, StartRequest, Tenant, Timer,
};
use dormouse_store::instance::lease::{Open, Opened};
use dormouse_store::item::config::StoreConfig;
use dormouse_store::stimulus::timer::Timer as TimerRow;
use dormouse_store::table::Write;
use dormouse_store::{MemoryTable, Store};
use serde_json::Map;
use tokio::time::{Instant, sleep};

use crate::measures::Numbers;
use crate::table::NodeTable;

/// 2026-01-01T00:00:00Z
pub(crate) const BEGIN: i64 = 1_767_225_600_000;

/// The virtual clock: it goes on when nobody has anything to do.
pub(crate) struct TestClock {
    begin: Instant,
    drawn: AtomicU64,
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let ms = self.begin.elapsed().as_millis();
        Timestamp(BEGIN + i64::try_from(ms).unwrap())
    }

    async fn sleep(&self, ms: u64) {
        sleep(Duration::from_millis(ms)).await;
    }

    fn random(&self) -> u64 {
        splitmix(self.drawn.fetch_add(1, Ordering::Relaxed))
    }
}

struct Spawn;

impl Background for Spawn {
    fn spawn(&self, work: Work) {
        tokio::spawn(work);
    }
}

/// Timers in the table, as the local server has them.
struct TableTimers {
    store: Store,
}

impl TableTimers {
    fn row(timer: &Timer) -> TimerRow {
        TimerRow {
            tenant: timer.tenant.clone(),
            id: timer.id(),
            due_ms: timer.due.0,
            body: serde_json::to_vec(timer).unwrap().into(),
        }
    }
}

#[async_trait]
impl Scheduler for TableTimers {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        Ok(self.store.timers().set_timer(&Self::row(timer)).await?)
    }

    fn schedule_write(&self, timer: &Timer) -> Result<Option<Write>, PortError> {
        Ok(Some(self.store.timers().timer_write(&Self::row(timer))?))
    }

    fn forget_write(&self, timer: &Timer) -> Result<Option<Write>, PortError> {
        Ok(Some(self.store.timers().timer_clearing(&Self::row(timer))?))
    }

    fn lies_in_table(&self) -> bool {
        true
    }

    async fn forget(&self, timer: &Timer) -> Result<(), PortError> {
        Ok(self
            .store
            .timers()
            .clear_timers(&[Self::row(timer)])
            .await?)
    }
}

/// Answers HTTP requests after a while, and remembers them.
#[derive(Default)]
pub(crate) struct Web {
    pub(crate) requests: Mutex<Vec<HttpRequest>>,
    /// Status and body of the next answers; afterwards it is 200 and `{}`. 0: nobody is there.
    pub(crate) answers: Mutex<VecDeque<(u16, Vec<u8>)>>,
    /// How much longer than usual an answer takes, ms.
    pub(crate) slow_ms: AtomicU64,
}

#[async_trait]
impl HttpCaller for Web {
    async fn call(&self, request: &HttpRequest, _timeout_ms: u64) -> Answer {
        self.requests.lock().unwrap().push(request.clone());
        let slow_ms = self.slow_ms.load(Ordering::Relaxed);
        sleep(Duration::from_millis(50 + slow_ms)).await;
        let next = self.answers.lock().unwrap().pop_front();
        let (status, body) = next.unwrap_or_else(|| (200, b"{}".to_vec()));
        if status == 0 {
            let message = "nobody is there".to_owned();
            return Answer::FailedToConnect { message };
        }
        Answer::Http {
            status,
            headers: std::collections::BTreeMap::new(),
            body,
        }
    }
}

/// Remembers the tasks it is asked for.
#[derive(Default)]
pub(crate) struct Tasks {
    pub(crate) requests: Mutex<Vec<TaskRequest>>,
}

#[async_trait]
impl Bus for Tasks {
    async fn request_task(&self, request: &TaskRequest) -> Result<(), PortError> {
        self.requests.lock().unwrap().push(request.clone());
        Ok(())
    }
}

/// All that the nodes share.
pub(crate) struct World {
    pub(crate) memory: Arc<MemoryTable>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) web: Arc<Web>,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) tenant: Tenant,
    /// How the nodes lay things out.
    pub(crate) layout: StoreConfig,
    nodes: AtomicU64,
}

/// One node.
pub(crate) struct Node {
    pub(crate) runtime: Runtime,
    pub(crate) table: Arc<NodeTable>,
    tenant: Tenant,
}

impl std::ops::Deref for Node {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.runtime
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            memory: Arc::new(MemoryTable::new()),
            clock: Arc::new(TestClock {
                begin: Instant::now(),
                drawn: AtomicU64::new(1),
            }),
            web: Arc::default(),
            tasks: Arc::default(),
            numbers: Arc::default(),
            tenant: Tenant::default(),
            layout: StoreConfig::embedded(),
            nodes: AtomicU64::new(0),
        }
    }

    /// One whose nodes prepare rows one by one before the head, as over DynamoDB.
    pub(crate) fn split() -> Self {
        Self {
            layout: StoreConfig::dynamo(),
            ..Self::new()
        }
    }

    pub(crate) fn node(&self) -> Node {
        self.node_with(|_| {})
    }

    pub(crate) fn node_with(&self, change: impl FnOnce(&mut RuntimeConfig)) -> Node {
        self.node_over(NodeTable::new(self.memory.clone()), change)
    }

    /// A node that dies at a call to the table.
    pub(crate) fn dying_node(&self, at: i64, last_happens: bool) -> Node {
        let table = NodeTable::dying(self.memory.clone(), at, last_happens);
        self.node_over(table, |_| {})
    }

    /// A node that freezes at its next write of a head, until it is thawed.
    pub(crate) fn freezing_node(&self) -> Node {
        self.node_over(NodeTable::freezing(self.memory.clone()), |_| {})
    }

    fn node_over(&self, table: NodeTable, change: impl FnOnce(&mut RuntimeConfig)) -> Node {
        let table = Arc::new(table);
        let store = Store::new(table.clone(), self.layout.clone());
        let number = self.nodes.fetch_add(1, Ordering::Relaxed);
        let mut config = RuntimeConfig::server(format!("node-{number}"));
        config.signing_secret = SigningSecret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        change(&mut config);
        let ports = Ports {
            clock: self.clock.clone(),
            background: Arc::new(Spawn),
            scheduler: Arc::new(TableTimers {
                store: store.clone(),
            }),
            http_caller: self.web.clone(),
            queue: None,
            bus: Some(self.tasks.clone()),
            broadcast: None,
            compute: None,
            observer: None,
            commands: None,
            functions: None,
            vault: None,
            metrics: Some(self.numbers.clone()),
        };
        Node {
            runtime: Runtime::new(store, ports, Arc::new(Expressions::default()), config),
            table,
            tenant: self.tenant.clone(),
        }
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now().0
    }

    /// The sort keys and partitions of what lies in the table with this in its partition.
    pub(crate) fn rows(&self, in_partition: &str) -> Vec<String> {
        let items = self.memory.items().into_iter();
        let rows = items.filter(|item| item.key.partition.contains(in_partition));
        rows.map(|item| item.key.sort).collect()
    }
}

/// Lets everything in the background come to its end.
pub(crate) async fn settle() {
    sleep(Duration::from_millis(5)).await;
}

pub(crate) async fn wait_ms(ms: u64) {
    sleep(Duration::from_millis(ms)).await;
}

impl Node {
    pub(crate) async fn save(&self, definition: Definition) -> SaveOutcome {
        self.runtime
            .definitions()
            .save(&self.tenant, definition)
            .await
            .unwrap()
    }

    /// Saves and publishes.
    pub(crate) async fn publish(&self, definition: Definition) {
        let id = definition.definition_id.clone().unwrap();
        self.save(definition).await;
        let outcome = self
            .runtime
            .definitions()
            .publish(&self.tenant, &id)
            .await
            .unwrap();
        assert!(
            matches!(outcome, PublishOutcome::Published(_)),
            "{outcome:?}"
        );
    }

    pub(crate) async fn begin(&self, request: StartRequest) -> StartOutcome {
        self.runtime
            .instances()
            .start(&self.tenant, request)
            .await
            .unwrap()
    }

    /// Starts the published version, which must be possible.
    pub(crate) async fn started(&self, definition_id: &str) -> BurstReport {
        let request = StartRequest::new(DefinitionHandle::published(definition_id));
        match self.begin(request).await {
            StartOutcome::Started(report) => *report,
            other => panic!("not started: {other:?}"),
        }
    }

    pub(crate) async fn wake(&self, instance: &str, bookmark: &str) -> ResumeOutcome {
        let request = ResumeRequest::bookmark(instance, bookmark, Map::new());
        self.runtime
            .instances()
            .resume(&self.tenant, request)
            .await
            .unwrap()
    }

    pub(crate) async fn sub_status(&self, instance: &str) -> String {
        let head = self
            .runtime
            .query()
            .instance_head(&self.tenant, instance)
            .await;
        head.unwrap().unwrap().summary.sub_status
    }

    /// The timers that are due at a time, in ms since 1970: at most a hundred of a shard.
    pub(crate) async fn due(&self, until_ms: i64) -> Vec<Timer> {
        let store = self.runtime.store();
        let mut timers: Vec<Timer> = Vec::new();
        for shard in 0..store.timers().timer_shards() {
            let page = store
                .timers()
                .timers_due(shard, until_ms, 100, None)
                .await
                .unwrap();
            let read = page.timers.iter();
            timers.extend(read.map(|row| serde_json::from_slice::<Timer>(&row.body).unwrap()));
        }
        timers
    }

    /// Takes the lease of an instance for so long, and never gives it back.
    pub(crate) async fn hold(&self, instance: &str, ms: i64) {
        let now_ms = self.runtime.ports().clock.now().0;
        let open = Open {
            instance_id: instance,
            owner: "somebody slow",
            now_ms,
            reopens: false,
        };
        let store = self.runtime.store();
        let opened = store.leases().lease(&self.tenant, &open, now_ms + ms).await;
        assert!(matches!(opened.unwrap(), Opened::Loaded(_)));
    }

    /// Fires what is due, as a scheduler would; answers how many timers there were.
    pub(crate) async fn fire_due(&self) -> usize {
        let due = self.due(self.runtime.ports().clock.now().0).await;
        let count = due.len();
        for timer in due {
            self.runtime.timers().fire(&timer).await.unwrap();
        }
        settle().await;
        count
    }

    /// Sweeps when all that a crash may have left is old enough.
    pub(crate) async fn sweep_later(&self) -> dormouse_runtime::SweepReport {
        wait_ms(60_000).await;
        let report = self.runtime.operations().sweep().await.unwrap();
        settle().await;
        report
    }
}

/// The only open bookmark.
pub(crate) fn bookmark(report: &BurstReport) -> String {
    let [bookmark] = report.instance.bookmarks.as_slice() else {
        panic!("not one bookmark: {:?}", report.instance.bookmarks);
    };
    bookmark.id.to_string()
}
