//! The table on DynamoDB, before a server that somebody else wrote. All promises share it, each with a table of
//! its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_tests::ministack::Ministack;
use dormouse_tests::table_contract;
use dormouse_tests::table_contract::Fixture;

static TABLES: AtomicUsize = AtomicUsize::new(0);

async fn ministack() -> Result<Option<Fixture>> {
    let Some(server) = Ministack::shared()? else {
        return Ok(None);
    };
    let number = TABLES.fetch_add(1, Ordering::Relaxed);
    let table = DynamoTable::new(&server.config(), format!("dormouse-contract-{number}"));
    table.create_table().await?;
    Ok(Some(Fixture::guarded(Arc::new(table), server)))
}

table_contract!(match ministack().await? {
    Some(fixture) => fixture,
    None => return Ok(()),
});
