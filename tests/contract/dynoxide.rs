//! The table on DynamoDB, before a server in this process. Each promise has a server of its own.

use std::sync::Arc;

use anyhow::Result;
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_tests::dynoxide::Dynoxide;
use dormouse_tests::table_contract;
use dormouse_tests::table_contract::Fixture;

async fn dynoxide() -> Result<Fixture> {
    let server = Dynoxide::start()?;
    let table = DynamoTable::new(&server.config(), "dormouse-contract");
    table.create_table().await?;
    Ok(Fixture::guarded(Arc::new(table), server))
}

table_contract!(dynoxide().await?);
