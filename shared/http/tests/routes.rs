//! The route table over a table in memory: what is asked for, what is answered, what is refused.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail"
)]

#[path = "routes/access.rs"]
mod access;
#[path = "routes/activity_types.rs"]
mod activity_types;
#[path = "routes/alteration_plans.rs"]
mod alteration_plans;
#[path = "routes/alterations.rs"]
mod alterations;
#[path = "routes/audit.rs"]
mod audit;
#[path = "routes/bulk.rs"]
mod bulk;
#[path = "routes/canvas.rs"]
mod canvas;
#[path = "routes/definitions.rs"]
mod definitions;
#[path = "routes/edits.rs"]
mod edits;
#[path = "routes/identity.rs"]
mod identity;
#[path = "routes/imports.rs"]
mod imports;
#[path = "routes/instances.rs"]
mod instances;
#[path = "routes/leaks.rs"]
mod leaks;
#[path = "routes/limits.rs"]
mod limits;
#[path = "routes/links.rs"]
mod links;
#[path = "routes/memory.rs"]
mod memory;
#[path = "routes/metrics.rs"]
mod metrics;
#[path = "routes/oidc.rs"]
mod oidc;
#[path = "routes/pauses.rs"]
mod pauses;
#[path = "routes/provider.rs"]
mod provider;
#[path = "routes/rules.rs"]
mod rules;
#[path = "routes/schedules.rs"]
mod schedules;
#[path = "routes/search_attributes.rs"]
mod search_attributes;
#[path = "routes/secret_limits.rs"]
mod secret_limits;
#[path = "routes/secrets.rs"]
mod secrets;
#[path = "routes/server.rs"]
mod server;
#[path = "routes/sessions.rs"]
mod sessions;
#[path = "routes/shapes.rs"]
mod shapes;
#[path = "routes/strangers.rs"]
mod strangers;
#[path = "routes/subgraph.rs"]
mod subgraph;
#[path = "routes/taken_ids.rs"]
mod taken_ids;
#[path = "routes/tasks.rs"]
mod tasks;
#[path = "routes/tokens.rs"]
mod tokens;
#[path = "routes/transfer.rs"]
mod transfer;
#[path = "routes/trial.rs"]
mod trial;
#[path = "routes/vault.rs"]
mod vault;
#[path = "routes/web_pages.rs"]
mod web_pages;
#[path = "routes/webhooks.rs"]
mod webhooks;
#[path = "routes/workflows.rs"]
mod workflows;
