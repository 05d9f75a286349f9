//! The use cases over a table in memory, with a virtual clock and ports that only take note. One file per theme;
//! `world` has the nodes and `flow` the definitions.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, also at what it did not expect"
)]

mod activation;
mod audit;
mod budgets;
mod bulk;
mod calls;
mod chains;
mod combined;
mod crashes;
mod crowds;
mod definitions;
mod events;
mod flow;
mod imports;
mod instances;
mod invocations;
mod limits;
mod measures;
mod occurrences;
mod own_activities;
mod pauses;
mod plans;
mod retention;
mod schedules;
mod stamps;
mod table;
mod timers;
mod worker_queues;
mod world;
