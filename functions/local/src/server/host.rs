//! The nodes and what they share: the table, the timers, the sweep.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_egress::{Egress, EgressConfig, Reach};
use dormouse_embedded::{
    EmbeddedTable, FileBlobs, SystemClock, TableScheduler, TimerDriver, TokioBackground,
    node_broadcasts, sweep,
};
use dormouse_expressions::{Expressions, Limits};
use dormouse_runtime::port::{Broadcast, Clock, Metrics, Observer, Ports};
use dormouse_runtime::{Runtime, RuntimeConfig};
use dormouse_store::Store;
use dormouse_store::config::StoreConfig;
use dormouse_telemetry::Registry;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::folder;
use crate::failure::Failure;

/// How long a lease is on one machine, in ms. Short: after a kill -9 nobody else can tell that its holder is gone.
const LEASE_MS: i64 = 5_000;

/// How long a drain waits for work that nobody waits for, in seconds. The outbox has what is left of it.
const DRAIN_S: u64 = 30;

/// What a host runs.
pub(crate) struct HostConfig {
    /// The data folder.
    pub(crate) data: PathBuf,
    /// The most bytes that the table may grow to. `None`: as the disk allows.
    pub(crate) data_bytes_max: Option<u64>,
    /// How many nodes.
    pub(crate) nodes: u16,
    /// How far the HTTP requests of workflows may reach.
    pub(crate) reach: Reach,
    /// Who hears what workflows write and do.
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

/// Nodes over one table. Timers fire and sweeps go on until it is closed.
pub(crate) struct Host {
    nodes: Vec<Runtime>,
    registries: Vec<Arc<Registry>>,
    background: TokioBackground,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    table: Arc<EmbeddedTable>,
}

impl Host {
    /// Opens the data folder and begins. To be called on a tokio runtime.
    pub(crate) fn open(config: HostConfig) -> Result<Self, Failure> {
        let table = Arc::new(folder::open(&config.data, config.data_bytes_max)?);
        let store = Store::new(Arc::clone(&table) as _, StoreConfig::embedded())
            .with_blobs(Arc::new(FileBlobs::new(&config.data)));
        let background = TokioBackground::new(Handle::current());
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let scheduler = TableScheduler::new(store.clone());
        let expressions = Arc::new(Expressions::new(Limits::default()));
        let caller = Arc::new(Egress::new(EgressConfig::new(config.reach)));
        // Another name each time, so that a lease of a process that was killed is never taken for one's own.
        let name = format!("{:08x}", clock.random() >> 32);

        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let (mut nodes, mut registries) = (Vec::new(), Vec::new());
        for (n, (broadcast, queue)) in (1..).zip(node_broadcasts(config.nodes.into())) {
            let others = config.nodes > 1;
            let registry = Arc::new(Registry::new());
            let ports = Ports {
                clock: Arc::clone(&clock),
                background: Arc::new(background.clone()),
                scheduler: Arc::new(scheduler.clone()),
                http_caller: Arc::clone(&caller) as _,
                queue: None,
                bus: None,
                broadcast: others.then(|| Arc::new(broadcast) as Arc<dyn Broadcast>),
                observer: config.observer.clone(),
                metrics: Some(Arc::clone(&registry) as Arc<dyn Metrics>),
            };
            let mut settings = RuntimeConfig::server(format!("{name}-{n}"));
            settings.lease_ms = LEASE_MS;
            let node = Runtime::new(store.clone(), ports, Arc::clone(&expressions), settings);
            if others {
                tasks.spawn(queue.run(node.clone(), stopped.clone()));
            }
            nodes.push(node);
            registries.push(registry);
        }
        let timers = TimerDriver::new(scheduler, nodes.clone(), clock, background.clone());
        tasks.spawn(timers.run(stopped.clone()));
        if let Some(first) = nodes.first() {
            tasks.spawn(sweep(first.clone(), Arc::clone(&table), stopped));
        }
        Ok(Self {
            nodes,
            registries,
            background,
            stop,
            tasks,
            table,
        })
    }

    /// The nodes, in order.
    pub(crate) fn nodes(&self) -> &[Runtime] {
        &self.nodes
    }

    /// What each node counts, in the same order.
    pub(crate) fn registries(&self) -> &[Arc<Registry>] {
        &self.registries
    }

    /// Work that nobody waits for.
    pub(crate) fn background(&self) -> &TokioBackground {
        &self.background
    }

    /// Stops timers and sweeps, waits for the work under way, and writes everything to its main file.
    pub(crate) async fn close(mut self) {
        let _nobody_listens = self.stop.send(true);
        let work = async {
            while self.tasks.join_next().await.is_some() {}
            self.background.idle().await;
        };
        let done = tokio::time::timeout(Duration::from_secs(DRAIN_S), work).await;
        if done.is_err() {
            let left = self.background.count();
            tracing::warn!(
                left,
                "stopped before all work was done; the next start goes on with it"
            );
        }
        drop(self.nodes);
        drop(self.table);
    }
}
