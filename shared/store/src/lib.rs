//! The table port, the item layout, leases, commits, the outbox and queries.

pub mod limits;
pub mod table;

mod change;
mod condition;
mod cursor;
mod index;
mod memory;
mod outcome;

pub use cursor::Cursor;
pub use memory::MemoryTable;
pub use outcome::{Decision, Outcome};
