//! The table port, the item layout, leases, commits, the outbox and queries.
//!
//! One file per item kind with its key, its body and the tests of both; one file per operation on [`Store`].
//! The store knows where things lie and who may write them. What a state, an effect or a payload means is the
//! engine's and the runtime's business: here they are bytes.

pub mod application;
pub mod audit;
pub mod backoff;
mod batches;
pub mod blobs;
mod body;
pub mod bookmark;
mod change;
mod change_definition;
mod chunks;
pub mod clean;
pub mod commit;
mod condition;
pub mod config;
pub mod create;
mod cursor;
pub mod dead_letter;
pub mod definition;
mod definition_change;
mod definitions;
mod epoch;
pub mod error;
pub mod examine;
pub mod expiry;
pub mod faults;
mod head_changes;
pub mod idempotency;
mod index;
pub mod instance;
mod instances;
pub mod journal;
mod key_text;
pub mod lease;
pub mod limits;
pub mod link;
pub mod list;
mod memory;
pub mod meter;
pub mod outbox;
mod outcome;
mod packed;
mod plan;
pub mod publish;
pub mod queued_stimulus;
mod readable;
pub mod role;
pub mod route;
pub mod scan;
mod seen;
mod send;
mod shard;
pub mod signing_key;
mod state;
pub mod stimuli;
mod store;
pub mod table;
pub mod tenant;
pub mod timer;
pub mod trigger;
pub mod uniqueness;
pub mod user;
pub mod versioned;
mod walk;
pub mod webhook;

pub use cursor::Cursor;
pub use error::StoreError;
pub use faults::FaultyTable;
pub use memory::MemoryTable;
pub use meter::{MeteredTable, Usage};
pub use outcome::{Decision, Outcome};
pub use store::Store;
pub use tenant::Tenant;
