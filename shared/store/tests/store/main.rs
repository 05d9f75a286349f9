//! What the store promises, told by scenarios over the table in memory. One file per operation.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test that meets what it did not expect fails there and then"
)]

mod activity_types;
mod attributes;
mod clean;
mod commit;
mod cost;
mod cost_definitions;
mod create;
mod damaged;
mod definitions;
mod epoch;
mod find;
mod identity;
mod journal;
mod layout;
mod lease;
mod list;
mod lost_answers;
mod oversized;
mod publish;
mod queues;
mod races;
mod repair;
mod rig;
mod rig_table;
mod secrets;
mod stamp;
mod state;
mod stimuli;
