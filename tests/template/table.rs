//! The table of the template is the table that the code makes.

use anyhow::{Context as _, Result};
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_tests::dynoxide::Dynoxide;
use dormouse_tests::template::Template;
use serde_json::{Value, json};

/// A table's description with only what both ways of making it name.
fn shape(table: &Value) -> Value {
    let sorted = |list: &Value, by: &str| {
        let mut list = list.as_array().cloned().unwrap_or_default();
        list.sort_by_key(|item| item[by].as_str().map(str::to_owned));
        list
    };
    let index = |index: &Value| {
        let projection = &index["Projection"];
        json!({
            "name": index["IndexName"],
            "keys": sorted(&index["KeySchema"], "KeyType"),
            "projection": projection["ProjectionType"],
            "attributes": projection["NonKeyAttributes"].as_array().cloned().unwrap_or_default(),
        })
    };
    let indexes = sorted(&table["GlobalSecondaryIndexes"], "IndexName");
    json!({
        "attributes": sorted(&table["AttributeDefinitions"], "AttributeName"),
        "keys": sorted(&table["KeySchema"], "KeyType"),
        "indexes": indexes.iter().map(index).collect::<Vec<_>>(),
    })
}

#[tokio::test]
async fn both_make_the_same_table() -> Result<()> {
    let server = Dynoxide::start()?;
    let table = DynamoTable::new(&server.config(), "dormouse-test");
    table.create_table().await?;
    let name = json!({ "TableName": "dormouse-test" });
    let database = server.database();
    let made = database.describe_table(serde_json::from_value(name.clone())?)?;
    let made = serde_json::to_value(made)?["Table"].take();
    let template = Template::read();
    let declared = template.properties("Table");
    assert_eq!(shape(declared), shape(&made));

    let ttl = database.describe_time_to_live(serde_json::from_value(name)?)?;
    let ttl = serde_json::to_value(ttl)?;
    let ttl = ttl["TimeToLiveDescription"]["AttributeName"]
        .as_str()
        .context("the code names the attribute")?;
    let declared = &declared["TimeToLiveSpecification"];
    assert_eq!(*declared, json!({ "AttributeName": ttl, "Enabled": true }));
    Ok(())
}

#[test]
fn what_is_kept_outlives_the_stack_and_can_be_had_back() {
    let template = Template::read();
    for name in ["Table", "Bucket"] {
        let resource = template.resource(name);
        assert_eq!(resource["DeletionPolicy"], "Retain", "{name}");
        assert_eq!(resource["UpdateReplacePolicy"], "Retain", "{name}");
    }
    let table = template.properties("Table");
    assert_eq!(table["BillingMode"], "PAY_PER_REQUEST");
    assert_eq!(table["SSESpecification"]["SSEEnabled"], true);
    let recovery = &table["PointInTimeRecoverySpecification"];
    assert_eq!(recovery["PointInTimeRecoveryEnabled"], true);
}
