//! The route table over a table in memory: what is asked for, what is answered, what is refused.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail"
)]

#[path = "routes/definitions.rs"]
mod definitions;
#[path = "routes/instances.rs"]
mod instances;
#[path = "routes/limits.rs"]
mod limits;
#[path = "routes/metrics.rs"]
mod metrics;
#[path = "routes/server.rs"]
mod server;
#[path = "routes/shapes.rs"]
mod shapes;
#[path = "routes/workflows.rs"]
mod workflows;
