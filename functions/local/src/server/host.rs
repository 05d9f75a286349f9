//! The nodes and what they share: the table, the timers, the sweep.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_egress::{Egress, EgressConfig, Reach};
use dormouse_embedded::{
    Pool, PoolLimits, SystemClock, TimerDriver, TokioBackground, node_broadcasts, sweep,
    sweep_shared, watch_pause,
};
use dormouse_expressions::{Expressions, Limits};
use dormouse_runtime::port::{
    Broadcast, Clock, Commands, Compute, Functions, HttpCaller, Metrics, Observer, Ports, Vault,
};
use dormouse_runtime::{
    HostSettings, PAUSE_SEEN_MS, Retention, Runtime, RuntimeConfig, SigningSecret,
};
use dormouse_telemetry::{Collector, Registry};
use dormouse_webhook::{TwoBuses, Webhook, WebhookBus};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::outside::Outside;
use super::storage::{Place, Storage};
use super::traces;
use super::vault::FileVault;
use crate::failure::Failure;

/// Interval in ms at which nodes look for a pause if a read costs nothing.
const PAUSE_LOOK_MS: u64 = 1_000;

/// Interval at which the request of a worker that waits looks for tasks, where a read costs nothing, in ms.
const POLL_LOOK_MS: u64 = 25;

/// Stack of a thread that serves, in bytes: workflows that execute each other take a part of it each.
pub(crate) const THREAD_STACK_BYTES: usize = 4 << 20;

/// Time that a drain waits for background work, in seconds. The outbox has what is left of it.
const DRAIN_S: u64 = 30;

/// Time that a drain begins queued work, in seconds. The outbox has what is left of it, too.
const DRAIN_QUEUED_S: u64 = 2;

/// Configuration of a host.
pub(crate) struct HostConfig {
    /// Data folder or table.
    pub(crate) place: Place,
    /// Number of nodes.
    pub(crate) nodes: u16,
    /// Addresses that HTTP requests of workflows may reach.
    pub(crate) reach: Reach,
    /// True if flowcharts pass tokens by default.
    pub(crate) passes_tokens: bool,
    /// Retention of ended instances.
    pub(crate) retention: Retention,
    /// Receiver of task requests and lifecycle events, in addition to the bus of a deployment.
    pub(crate) webhook: Option<Webhook>,
    /// Secret that signs requests to the handlers of activities.
    pub(crate) signing_secret: Option<SigningSecret>,
    /// Runner of commands that are handlers. `None`: they are not allowed.
    pub(crate) commands: Option<Arc<dyn Commands>>,
    /// Functions that are handlers. `None`: none is allowed.
    pub(crate) functions: Option<Arc<dyn Functions>>,
    /// File with the keys that seal the values of secrets. `None`: secrets are references.
    pub(crate) secrets_key: Option<PathBuf>,
    /// Observer of the output and the progress of workflows.
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// Destination of spans. `None`: no spans are made.
    pub(crate) traces: Option<Collector>,
}

fn threads_for_scripts() -> Result<Arc<dyn Compute>, Failure> {
    let pool = Pool::start("scripts", PoolLimits::of_machine()).map_err(Failure::system)?;
    Ok(Arc::new(pool))
}

/// The HTTP requests of workflows and handlers.
fn http_caller(reach: Reach) -> Arc<dyn HttpCaller> {
    let egress: Arc<dyn HttpCaller> = Arc::new(Egress::new(EgressConfig::new(reach)));
    Arc::new(Outside(egress))
}

impl HostConfig {
    /// The same; work that waits for a command or a function lets other work have its turn.
    fn with_handlers_outside(mut self) -> Self {
        let commands = self.commands.map(Outside);
        self.commands = commands.map(|it| Arc::new(it) as Arc<dyn Commands>);
        let functions = self.functions.map(Outside);
        self.functions = functions.map(|it| Arc::new(it) as Arc<dyn Functions>);
        self
    }
}

/// Begins to sweep by the first node.
fn begin_sweeps(
    nodes: &[Runtime],
    storage: &Storage,
    stop: watch::Receiver<bool>,
    tasks: &mut JoinSet<()>,
) {
    if let Some(first) = nodes.first().cloned() {
        match &storage.embedded {
            Some(table) => tasks.spawn(sweep(first, Arc::clone(table), stop)),
            None => tasks.spawn(sweep_shared(first, stop)),
        };
    }
}

/// Keys of secrets in a file. Without a file, secrets are references.
fn vault(path: Option<&Path>, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Vault>, Failure> {
    let random = [(); 4].map(|()| clock.random());
    Ok(Arc::new(FileVault::open(path, random)?))
}

/// Steps of this node can name secrets.
async fn allow_secrets(node: &Runtime) -> Result<(), Failure> {
    let allowed = node.accounts().secrets().allow().await;
    allowed.map_err(|error| Failure::runtime(&error))
}

/// Nodes over one table. Timers fire and sweeps run until it is closed.
pub(crate) struct Host {
    nodes: Vec<Runtime>,
    registries: Vec<Arc<Registry>>,
    background: TokioBackground,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    storage: Storage,
}

/// Tells a webhook, if there is one, what the bus is told.
fn tell_webhook(ports: &mut Ports, webhook: Option<Webhook>, caller: &Arc<dyn HttpCaller>) {
    let Some(webhook) = webhook else {
        return;
    };
    let bus = WebhookBus::new(webhook, Arc::clone(caller), Arc::clone(&ports.clock));
    ports.bus = TwoBuses::of(ports.bus.take(), Some(Arc::new(bus)));
}

/// A variable of the environment that is text.
fn text((name, value): (OsString, OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

/// Behaviour of a node.
fn settings(config: &HostConfig, storage: &Storage) -> RuntimeConfig {
    RuntimeConfig {
        lease_ms: storage.lease_ms,
        retention: config.retention,
        passes_tokens: config.passes_tokens,
        settings: HostSettings::of(std::env::vars_os().filter_map(text)),
        signing_secret: config.signing_secret.clone(),
        poll_pause_ms: match storage.embedded {
            Some(_) => POLL_LOOK_MS,
            None => PAUSE_LOOK_MS,
        },
        ..RuntimeConfig::server("local")
    }
}

impl Host {
    /// Opens the place and begins. To be called on a tokio runtime.
    pub(crate) async fn open(config: HostConfig) -> Result<Self, Failure> {
        let config = config.with_handlers_outside();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let storage = Storage::open(&config.place, &clock).await?;
        let usual = settings(&config, &storage);
        let background = TokioBackground::new(Handle::current());
        let expressions = Arc::new(Expressions::new(Limits::default()));
        let caller = http_caller(config.reach);
        // Another name each time, so that a lease of a process that was killed is never taken for one's own.
        let name = format!("{:08x}", clock.random() >> 32);
        let scripts = threads_for_scripts()?;
        let ((stop, stopped), mut tasks) = (watch::channel(false), JoinSet::new());
        let mut observer = config.observer;
        if let Some(collector) = config.traces {
            observer = Some(traces::begin(collector, observer, &mut tasks, &stopped));
        }
        let vault = vault(config.secrets_key.as_deref(), &clock)?;
        let (mut nodes, mut registries) = (Vec::new(), Vec::new());
        for (n, (broadcast, queue)) in (1..).zip(node_broadcasts(config.nodes.into())) {
            let others = config.nodes > 1;
            let registry = Arc::new(Registry::new());
            let mut ports = Ports {
                clock: Arc::clone(&clock),
                background: Arc::new(background.clone()),
                scheduler: Arc::new(storage.scheduler.clone()),
                http_caller: Arc::clone(&caller),
                queue: None,
                bus: None,
                broadcast: others.then(|| Arc::new(broadcast) as Arc<dyn Broadcast>),
                compute: Some(Arc::clone(&scripts)),
                observer: observer.clone(),
                commands: config.commands.clone(),
                functions: config.functions.clone(),
                vault: Some(Arc::clone(&vault)),
                metrics: Some(Arc::clone(&registry) as Arc<dyn Metrics>),
            };
            if let Some(remote) = &storage.remote {
                remote.fill(&mut ports);
            }
            tell_webhook(&mut ports, config.webhook.clone(), &caller);
            let settings = RuntimeConfig {
                node: format!("{name}-{n}"),
                ..usual.clone()
            };
            let expressions = Arc::clone(&expressions) as _;
            let node = Runtime::new(storage.store.clone(), ports, expressions, settings);
            allow_secrets(&node).await?;
            if others {
                tasks.spawn(queue.run(node.clone(), stopped.clone()));
            }
            if let Some(remote) = &storage.remote {
                remote.attend(&node, &mut tasks, &stopped);
            }
            nodes.push(node);
            registries.push(registry);
        }
        heed_pauses(&nodes, storage.embedded.is_some(), &mut tasks, &stopped).await?;
        let (due, work) = (storage.scheduler.clone(), Arc::new(background.clone()));
        let timers = TimerDriver::new(due, nodes.clone(), clock, work);
        tasks.spawn(timers.run(stopped.clone()));
        begin_sweeps(&nodes, &storage, stopped, &mut tasks);
        Ok(Self {
            nodes,
            registries,
            background,
            stop,
            tasks,
            storage,
        })
    }

    /// The nodes, in order.
    pub(crate) fn nodes(&self) -> &[Runtime] {
        &self.nodes
    }

    /// Metrics of each node, in the same order.
    pub(crate) fn registries(&self) -> &[Arc<Registry>] {
        &self.registries
    }

    /// Background work.
    pub(crate) fn background(&self) -> &TokioBackground {
        &self.background
    }

    /// Stops timers and sweeps, waits for the work under way, and writes everything to its main file.
    pub(crate) async fn close(mut self) {
        let _nobody_listens = self.stop.send(true);
        let work = async {
            while self.tasks.join_next().await.is_some() {}
            let queued =
                tokio::time::timeout(Duration::from_secs(DRAIN_QUEUED_S), self.background.idle());
            if queued.await.is_err() {
                // Work that begins ever more of its kind would never end.
                self.background.drop_queued();
                self.background.idle().await;
            }
        };
        let done = tokio::time::timeout(Duration::from_secs(DRAIN_S), work).await;
        if done.is_err() {
            let left = self.background.count();
            tracing::warn!(
                left,
                "stopped before all work was done; the next start continues it"
            );
        }
        drop(self.nodes);
        drop(self.storage);
    }
}

/// Looks for a pause before anything fires, and continues to look: one outlives the process that was told of
/// it.
async fn heed_pauses(
    nodes: &[Runtime],
    is_embedded: bool,
    tasks: &mut JoinSet<()>,
    stop: &watch::Receiver<bool>,
) -> Result<(), Failure> {
    for node in nodes {
        let seen = node.pauses().look().await;
        seen.map_err(|error| Failure::runtime(&error))?;
    }
    let every_ms = match is_embedded {
        true => PAUSE_LOOK_MS,
        false => PAUSE_SEEN_MS.unsigned_abs(),
    };
    tasks.spawn(watch_pause(nodes.to_vec(), every_ms, stop.clone()));
    Ok(())
}
