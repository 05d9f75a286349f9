//! The ports in one process: durable embedded table, large states as files, background work, broadcast between nodes.
//! Timers and sweeps serve any table, also one that several processes share.
//!
//! A queue is missing on purpose: the process handles its messages itself, and the outbox is their durability.

mod background;
mod blobs;
mod broadcast;
mod clock;
mod pace;
mod pool;
mod scheduler;
#[cfg(feature = "sqlite")]
mod sweeper;
#[cfg(feature = "sqlite")]
mod table;
mod timer_failures;
mod timers;

pub use background::TokioBackground;
pub use blobs::FileBlobs;
pub use broadcast::{NodeBroadcast, NodeQueue, node_broadcasts};
pub use clock::SystemClock;
pub use pool::{Pool, PoolLimits};
pub use scheduler::TableScheduler;
#[cfg(feature = "sqlite")]
pub use sweeper::{sweep, sweep_shared, watch_pause};
#[cfg(feature = "sqlite")]
pub use table::{EmbeddedTable, Options};
pub use timers::TimerDriver;
