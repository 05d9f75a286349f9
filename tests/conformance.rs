//! Elsa's own acceptance cases and real Elsa definitions run as Elsa runs them.
//!
//! The cases and files are described in documents of the folder `../shared` (or `$DORMOUSE_SHARED`); `rows.rs` holds
//! each of their rows against a test or a reason. What needs the folder is skipped, loudly, where it is absent.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "all of this is test code: it fails with a sentence, and nobody handles it"
)]

mod conformance {
    mod children;
    mod containers;
    mod corpus;
    mod corpus_children;
    mod corpus_runs;
    mod flowcharts;
    mod http;
    mod routes;
    mod rows;
    mod waiting;
}
