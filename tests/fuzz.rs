//! Inputs that nobody would send on purpose: no panic, no hang, no memory without bound, whatever comes.
//!
//! Each target begins with what `fuzz/corpus` keeps of it and goes on with mutants of that for
//! `DORMOUSE_FUZZ_SECONDS` (three unless told). What was found once lies in the corpus.
#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::type_complexity,
    clippy::too_many_lines,
    clippy::large_futures,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a test fails with a sentence"
)]
#![allow(
    dead_code,
    reason = "of the still world and the golden ones only a part is needed here"
)]

#[path = "fuzz/drive.rs"]
mod drive;
#[path = "fuzz/engine.rs"]
mod engine;
#[path = "upgrade/golden_world.rs"]
mod golden_world;
#[path = "fuzz/http.rs"]
mod http;
#[path = "exhaustive/law.rs"]
mod law;
#[path = "fuzz/mutant.rs"]
mod mutant;
#[path = "exhaustive/node.rs"]
mod node;
#[path = "exhaustive/plant.rs"]
mod plant;
#[path = "exhaustive/play.rs"]
mod play;
#[path = "upgrade/populate.rs"]
mod populate;
#[path = "fuzz/stored.rs"]
mod stored;
#[path = "fuzz/texts.rs"]
mod texts;
#[path = "fuzz/tokens.rs"]
mod tokens;
#[path = "upgrade/touch.rs"]
mod touch;
#[path = "exhaustive/world.rs"]
mod world;
