//! The embedded table keeps the contract.

use std::sync::Arc;

use dormouse_embedded::EmbeddedTable;
use dormouse_tests::table_contract::Fixture;

/// A table in a folder of its own.
fn fresh() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let table = EmbeddedTable::open(folder.path()).unwrap();
    Fixture::guarded(Arc::new(table), folder)
}

dormouse_tests::table_contract!(fresh());
