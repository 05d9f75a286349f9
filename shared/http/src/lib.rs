//! The one route table: Elsa's REST API under `/elsa/api`, HTTP workflows under `/workflows`, resume
//! links under `/links`, health, metrics.
//!
//! A route reads its request, calls one use case of the runtime and writes the answer as Elsa spells it. Whatever
//! is refused is refused by [`Refusal`], whose status, code and sentence are chosen in one file.

mod absent;
pub mod access;
mod activity_execution;
mod activity_test;
mod activity_type;
mod administration;
mod alteration;
mod app;
mod body;
mod bookmark;
mod client_address;
mod dead_letter;
mod definition;
mod descriptor;
mod event;
mod gate;
mod headers;
mod health;
mod heavy;
mod identity;
mod instance;
mod known_clients;
mod link;
mod memory;
mod metrics;
mod openapi;
mod origin;
mod path;
mod problem;
mod query;
mod rate_limit;
mod refusal;
mod router;
mod scoped;
mod script;
mod task;
mod unzip;
mod webhook;
mod workflow;

pub use app::{App, HttpConfig};
pub use client_address::ClientAddress;
pub use health::overloaded;
pub use instance::model::state as workflow_state;
pub use memory::Beside;
pub use metrics::MetricsPage;
pub use origin::Encrypted;
pub use refusal::{Operating, Overload, Refusal};
pub use router::router;
