//! The ports in one process: durable embedded table, timers, queues, broadcast.

mod table;

pub use table::{EmbeddedTable, Options};
