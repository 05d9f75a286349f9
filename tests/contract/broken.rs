//! A table that breaks one promise fails the contract.

use std::sync::Arc;

use anyhow::{Result, ensure};
use dormouse_tests::table_contract::broken::{BrokenTable, Defect};
use dormouse_tests::table_contract::{self, Scope};

/// Runs every promise over a table with the defect, and gives the names of those that failed.
async fn broken_promises(defect: Defect) -> Vec<&'static str> {
    let mut broken = Vec::new();
    macro_rules! run_each {
        (() $($file:ident: [$($promise:ident),* $(,)?],)*) => {
            $($({
                let name = stringify!($promise);
                let scope = Scope::new(Arc::new(BrokenTable::new(defect)), name);
                if table_contract::$file::$promise(scope).await.is_err() {
                    broken.push(name);
                }
            })*)*
        };
    }
    dormouse_tests::table_promises!(run_each, ());
    broken
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_without_a_defect_keeps_every_promise() {
    let broken = broken_promises(Defect::None).await;
    assert!(broken.is_empty(), "{broken:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_defect_breaks_the_promise_it_is_about() -> Result<()> {
    for (defect, promise) in Defect::EVERY {
        let broken = broken_promises(defect).await;
        ensure!(
            broken.contains(&promise),
            "{defect:?} broke only {broken:?}"
        );
    }
    Ok(())
}
