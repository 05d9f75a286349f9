//! What the tiers share: a small language for Elsa definitions, an in-memory host for the pure engine with exact
//! expectations, and the promises of the table port.

#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "all of this is test code: it fails with a sentence, and nobody handles it"
)]

pub mod activity;
pub mod api;
#[cfg(feature = "aws")]
pub mod broken_line;
pub mod chance;
#[cfg(feature = "aws")]
pub mod cloud;
pub mod corpus;
#[cfg(feature = "aws")]
pub mod database;
#[cfg(feature = "aws")]
pub mod deployment;
#[cfg(feature = "aws")]
pub mod dynoxide;
pub mod expected;
pub mod faketime;
pub mod flow;
pub mod golden;
pub mod host;
pub mod http_client;
#[cfg(feature = "aws")]
pub mod lambda;
pub mod load;
#[cfg(feature = "aws")]
pub mod ministack;
pub mod outcome;
pub mod primitives;
pub mod receiver;
#[cfg(feature = "aws")]
pub mod recorder;
pub mod routes;
pub mod rows;
pub mod scenario;
pub mod seen;
pub mod server;
pub mod sink;
pub mod table_contract;
pub mod template;
pub mod web;
pub mod workflow;

pub use activity::{Activity, Expr, activity, js, liquid, literal, object, variable};
pub use expected::{Expected, cancelled, faulted, finished, suspended};
pub use host::Host;
pub use scenario::Scenario;
pub use seen::Seen;
pub use workflow::{Workflow, workflow};

/// How long a test that makes trouble under load goes on doing so: `DORMOUSE_SOAK_S`, 8 s unless told.
#[must_use]
pub fn soak() -> std::time::Duration {
    let told = std::env::var("DORMOUSE_SOAK_S").ok();
    std::time::Duration::from_secs(told.and_then(|s| s.parse().ok()).unwrap_or(8))
}
