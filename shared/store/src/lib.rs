//! The table port, the item layout, leases, commits, the outbox and queries.

pub mod table;
