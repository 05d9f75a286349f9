//! Given a definition, when something happens, then exactly these lines, waits, effects, incidents and journal lines.
//!
//! One file per subject. Journals are written in the short form of `dormouse_tests::seen::journal_text`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this is test code: it fails with a sentence, and nobody handles it"
)]

mod scenarios {
    mod branching;
    mod cancelling;
    mod children;
    mod commits;
    mod compensation;
    mod data;
    mod errors;
    mod failing;
    mod flowcharts;
    mod http;
    mod journal;
    mod looping;
    mod outputs;
    mod scheduling;
    mod signals;
    mod state_machine;
    mod tokens;
    mod validation;
}
