//! The ports: what the use cases need of the world. Time, randomness, sleeping and spawning are among them, so that
//! a simulation can drive everything.
//!
//! The table itself is the store's port, and so are the blobs for large states.

mod background;
mod broadcast;
mod bus;
mod clock;
mod commands;
mod compute;
mod functions;
mod http_caller;
mod metrics;
mod observer;
mod queue;
mod scheduler;
mod vault;

use std::sync::Arc;

pub use crate::error::{ComputeError, PortError, Saturated};
pub use crate::work::lifecycle_event::{LifecycleEvent, LifecycleKind};
pub use crate::work::task_request::TaskRequest;

pub use background::{Background, Work};
pub use broadcast::{Broadcast, DefinitionChanged};
pub use bus::Bus;
pub use clock::Clock;
pub use commands::{CommandAnswer, Commands};
pub use compute::{Compute, Share, compute};
pub(crate) use functions::not_allowed;
pub use functions::{FunctionAnswer, Functions};
pub use http_caller::HttpCaller;
pub use metrics::{Measure, Metric, MetricKind, Metrics};
pub use observer::{Happened, Observer};
pub use queue::Queue;
pub use scheduler::Scheduler;
pub use vault::Vault;

/// All the ports of a runtime.
#[derive(Clone)]
pub struct Ports {
    /// Time and randomness.
    pub clock: Arc<dyn Clock>,
    /// Where work goes on that nobody waits for.
    pub background: Arc<dyn Background>,
    /// What is due later.
    pub scheduler: Arc<dyn Scheduler>,
    /// Makes the HTTP requests of activities.
    pub http_caller: Arc<dyn HttpCaller>,
    /// Where messages go. `None`: this process handles them itself, and the outbox is their durability.
    pub queue: Option<Arc<dyn Queue>>,
    /// Who hears of tasks for outside workers. `None`: nobody.
    pub bus: Option<Arc<dyn Bus>>,
    /// Who hears of changed definitions. `None`: nobody; every start checks the version anyway.
    pub broadcast: Option<Arc<dyn Broadcast>>,
    /// Where scripts run. `None`: where their burst does.
    pub compute: Option<Arc<dyn Compute>>,
    /// Runs commands that are handlers of activities. `None`: they are not allowed.
    pub commands: Option<Arc<dyn Commands>>,
    /// Invokes functions of AWS Lambda that are handlers of activities. `None`: none is allowed.
    pub functions: Option<Arc<dyn Functions>>,
    /// Seals and opens the values of secrets. `None`: there are no secrets.
    pub vault: Option<Arc<dyn Vault>>,
    /// Who watches what happens. `None`: nobody.
    pub observer: Option<Arc<dyn Observer>>,
    /// Who counts and times what happens. `None`: nobody.
    pub metrics: Option<Arc<dyn Metrics>>,
}
