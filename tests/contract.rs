//! Every table keeps every promise of the port, and the suite that says so notices when one does not.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "all of this is test code: it may stop at once"
)]

mod contract {
    mod broken;
    #[cfg(feature = "aws")]
    mod dynoxide;
    mod embedded;
    mod faults;
    mod folder;
    mod kill;
    mod memory;
    mod meter;
    #[cfg(feature = "aws")]
    mod ministack;
    mod power_cut;
}
