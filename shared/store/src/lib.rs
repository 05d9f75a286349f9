//! The table port, the item layout, commits, leases, the outbox and queries.
//!
//! One file per item kind with its key, its body and the tests of both; one handle of [`Store`] per group of operations.
//! The store knows where things lie and who may write them. What a state, an effect or a payload means is the
//! engine's and the runtime's business: here they are bytes.

pub mod definition;
pub mod identity;
pub mod instance;
pub mod item;
pub mod operation;
pub mod outbox;
pub mod stimulus;
mod store;
pub mod table;

pub use item::error::StoreError;
pub use item::tenant::Tenant;
pub use store::Store;
pub use table::cursor::Cursor;
pub use table::faults::FaultyTable;
pub use table::memory::MemoryTable;
pub use table::meter::{MeteredTable, Usage};
pub use table::outcome::{Decision, Outcome};
