//! Laws that hold for every definition and every order of stimuli, tried on random ones.
//!
//! The host checks the laws of a step by itself: the same input gives the same bytes, a stimulus for a bookmark that
//! is gone changes nothing, instances survive encoding, ended ones stay ended, the journal has no gaps.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this is test code: it fails with a sentence, and nobody handles it"
)]

mod properties {
    mod branches;
    mod commits;
    mod definitions;
    mod play;
    mod steps;
}
