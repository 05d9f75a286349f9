//! Every table keeps every promise of the port, and the suite that says so notices when one does not.

mod contract {
    mod broken;
    mod embedded;
    mod memory;
}
