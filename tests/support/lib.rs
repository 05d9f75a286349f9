//! What the tiers share.
#![allow(
    clippy::missing_errors_doc,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this is test code: it fails with a sentence, and nobody handles it"
)]

pub mod table_contract;
