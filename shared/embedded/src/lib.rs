//! The ports in one process: durable embedded table, large states as files, background work, broadcast between nodes.
//! Timers and sweeps serve any table, also one that several processes share.
//!
//! A queue is missing on purpose: the process handles its messages itself, and the outbox is their durability.
//!
//! # The embedded table
//!
//! The table (`table/`) is one SQLite file in a folder that one process holds at a time. One thread commits all requests that wait, in one
//! transaction (group commit). Another thread fsyncs the log while the next group is committed.
//!
//! - A commit is visible before it is durable. Nothing that depends on it is told before the fsync that covers it: not its own answer, not a
//!   refusal because of it, no read of a partition that it changed (`log.rs`). `Ordered` updates alone are answered at once; the order of the log
//!   ensures that no later commit survives a power cut without them.
//! - Exactly one connection writes and moves the log into the file. With two, SQLite before 3.51.3 can lose pages.
//! - This process opens `dormouse.sqlite` through SQLite alone: closing any other handle would release the locks that it has on the file. Another
//!   process may read a moment of it meanwhile (`table/snapshot.rs`), and nothing else.
//! - Readers read on the caller's thread: microseconds, and never a wait for the writer.
//! - Every body has a format number and a checksum; the file has a format number (`user_version`).
//! - A lease names its epoch: one opening of the folder (`store/src/item/epoch.rs`). The folder's lock proves that a holder of another epoch is
//!   gone. After a `kill -9` no node waits for a lease or a hold to expire, and the first sweep takes the whole outbox. The fence rises as ever.
//!
//! # Several servers over one table
//!
//! Servers over one DynamoDB table (`serve --table dynamodb`) do not know each other. All that they share is in the table, unless the
//! environment names the queues and the topic of a deployment. Then they use those, as the functions do.
//!
//! - Timers are rows of the table. Each server reads every 5 s what is due in the next 5 s (idle: one read unit), fires its own timers on time and
//!   those of others 0.25 to 0.75 s later (`pace.rs`), so two servers seldom pay for the same timer. Both may try: the bookmark is burnt once. A server
//!   that dies delays the timers that it set by at most 5.75 s.
//! - Each server sweeps every 10 to 30 s. Two concurrent sweeps deliver the same effects under the same ids. Idle sweeps cost 32 read units, with the
//!   timers about $0.60 a month for each server.
//! - A lease lasts 10 s: an instance rests at most that long when its server dies. Clocks should agree within a second: timers fire by the
//!   clock of the server that fires them. Fences keep everything to once where clocks do not agree.
//!
//! # Work that no caller waits for
//!
//! What commits leave to be done runs in fair turns and in a bounded number (`background.rs`). What finds no room in the queue stays in the
//! outbox, and the sweep delivers it. Timers bound themselves.
//!
//! # The pool
//!
//! Work that occupies a processor runs on a pool (`pool.rs`, the port `Compute`) in fair turns; no tenant fills its queue. Work on it must not
//! wait for other work of the same pool.

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
mod timer_firing;
mod timers;
mod turns;

pub use background::{TokioBackground, out_of_turn};
pub use blobs::FileBlobs;
pub use broadcast::{NodeBroadcast, NodeQueue, node_broadcasts};
pub use clock::SystemClock;
pub use pool::Pool;
pub use scheduler::TableScheduler;
#[cfg(feature = "sqlite")]
pub use sweeper::{sweep, sweep_shared, watch_pause};
#[cfg(feature = "sqlite")]
pub use table::{EmbeddedTable, Options, Snapshot};
pub use timers::TimerDriver;
pub use turns::PoolLimits;
