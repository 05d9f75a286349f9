//! A table that is not there, not reached, or not ours.

use anyhow::Result;
use dormouse_aws::config::AwsConfig;
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_store::table::{Condition, Table as _, TableError, Write};
use dormouse_tests::dynoxide::Dynoxide;
use dynoxide::actions::create_table::CreateTableRequest;
use serde_json::json;

use super::remote::{NAME, key, said};

#[tokio::test]
async fn a_missing_table_is_named_with_what_to_do() -> Result<()> {
    let server = Dynoxide::start()?;
    let table = DynamoTable::new(&server.config(), NAME);
    let said = said(table.ready().await)?;
    assert!(said.contains("no table `dormouse-test`"), "{said}");
    assert!(said.contains(server.endpoint()), "{said}");
    assert!(said.contains("deploy the template"), "{said}");
    let get = table.get(&key()).await;
    assert!(matches!(get, Err(TableError::Unusable(..))), "{get:?}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() -> Result<()> {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let table = DynamoTable::new(&AwsConfig::emulator(format!("http://{nobody}")), NAME);
    let said = said(table.ready().await)?;
    assert!(said.contains(&nobody.to_string()), "{said}");
    // Nothing was sent, so nothing can have happened.
    let put = Write::Delete(key(), Condition::Always);
    let answer = table.write(&[put]).await;
    assert!(matches!(answer, Err(TableError::Busy)), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn a_table_is_made_once_and_checked_after() -> Result<()> {
    let server = Dynoxide::start()?;
    let table = DynamoTable::new(&server.config(), NAME);
    table.create_table().await?;
    table.ready().await?;
    table.create_table().await?;
    Ok(())
}

#[tokio::test]
async fn a_table_of_somebody_else_is_refused() -> Result<()> {
    let server = Dynoxide::start()?;
    let foreign: CreateTableRequest = serde_json::from_value(json!({
        "TableName": NAME,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
        "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }],
    }))?;
    server.database().create_table(foreign)?;
    let table = DynamoTable::new(&server.config(), NAME);
    let said = said(table.create_table().await)?;
    assert!(said.contains("not one of Dormouse's"), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_table_without_its_indexes_is_refused() -> Result<()> {
    let server = Dynoxide::start()?;
    let bare: CreateTableRequest = serde_json::from_value(json!({
        "TableName": NAME,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            { "AttributeName": "pk", "KeyType": "HASH" },
            { "AttributeName": "sk", "KeyType": "RANGE" },
        ],
        "AttributeDefinitions": [
            { "AttributeName": "pk", "AttributeType": "S" },
            { "AttributeName": "sk", "AttributeType": "S" },
        ],
    }))?;
    server.database().create_table(bare)?;
    let said = said(DynamoTable::new(&server.config(), NAME).ready().await)?;
    assert!(said.contains("lacks the index `index1`"), "{said}");
    Ok(())
}
