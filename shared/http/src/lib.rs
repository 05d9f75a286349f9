//! The one route table: Elsa's REST API under `/elsa/api`, HTTP workflows under `/workflows`, health, metrics.
//!
//! A route reads its request, calls one use case of the runtime and writes the answer as Elsa spells it. Whatever
//! is refused is refused by [`Refusal`], whose status, code and sentence are chosen in one file.

mod activity_execution;
mod app;
mod body;
mod bookmark;
mod dead_letter;
mod definition;
mod event;
mod health;
mod instance;
mod metrics;
mod origin;
mod problem;
mod query;
mod refusal;
mod router;
mod task;
mod workflow;

pub use app::{App, HttpConfig};
pub use instance::model::state as workflow_state;
pub use metrics::MetricsPage;
pub use refusal::Refusal;
pub use router::router;
