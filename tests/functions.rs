//! Each Lambda function as the real binary, driven through a Runtime API with events as Lambda's sources send them,
//! over an emulator of AWS.
//!
//! The binaries are built with the packages' tests, so run it alone by
//! `cargo test -p dormouse-api -p dormouse-resume -p dormouse-timer -p dormouse-invalidation`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, also at what it did not expect"
)]

mod functions {
    mod api;
    mod events;
    mod fuzz;
    mod invalidation;
    mod lifetime;
    mod messages;
    mod stage;
    mod timers;
    mod webhooks;
}
