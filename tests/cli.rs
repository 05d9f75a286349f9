//! The real binary, driven as a person or a program drives it.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "a test may fail"
)]

#[path = "cli/activities.rs"]
mod activities;
#[path = "cli/author.rs"]
mod author;
#[path = "cli/backup.rs"]
mod backup;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/conflicts.rs"]
mod conflicts;
#[path = "cli/cost.rs"]
mod cost;
#[path = "cli/credentials.rs"]
mod credentials;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "cli/examples.rs"]
mod examples;
#[path = "cli/finding.rs"]
mod finding;
#[path = "cli/for_programs.rs"]
mod for_programs;
#[path = "cli/newcomer.rs"]
mod newcomer;
#[path = "cli/operate.rs"]
mod operate;
#[path = "cli/operating.rs"]
mod operating;
#[path = "cli/packages.rs"]
mod packages;
#[path = "cli/process.rs"]
mod process;
#[path = "cli/secrets.rs"]
mod secrets;
#[path = "cli/studio.rs"]
mod studio;
#[path = "cli/traces.rs"]
mod traces;
#[path = "cli/verify.rs"]
mod verify;
#[path = "cli/webhooks.rs"]
mod webhooks;
#[path = "cli/workflow_mocks.rs"]
mod workflow_mocks;
#[path = "cli/workflow_tests.rs"]
mod workflow_tests;
