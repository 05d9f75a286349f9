//! Every table keeps every promise of the port, and the suite that says so notices when one does not.

mod contract {
    mod broken;
    #[cfg(feature = "aws")]
    mod dynoxide;
    mod embedded;
    mod memory;
    #[cfg(feature = "aws")]
    mod ministack;
}
