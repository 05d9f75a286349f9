//! The table in memory keeps the contract.

use dormouse_store::MemoryTable;
use dormouse_tests::table_contract::Fixture;

dormouse_tests::table_contract!(Fixture::new(MemoryTable::new()));
