//! Opening a DynamoDB table, and what is told when it cannot be used.

use std::sync::Arc;

use dormouse_aws::config::AwsConfig;
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_aws::s3_blobs::S3Blobs;
use dormouse_embedded::TableScheduler;
use dormouse_runtime::port::Clock;
use dormouse_store::Store;
use dormouse_store::item::config::StoreConfig;
use dormouse_store::table::blobs::ListBlobs;

use super::remote::AwsRemote;
use super::storage::Storage;
use crate::exit::Exit;
use crate::failure::Failure;

/// Duration of a lease if other processes can continue when this one dies, in ms. Twice what one request may take.
const LEASE_MS: i64 = 10_000;

/// Opens a table where the environment says, and makes it first if it is to be made.
pub(super) async fn open(
    table: &str,
    is_made: bool,
    bucket: Option<&str>,
    clock: &Arc<dyn Clock>,
) -> Result<Storage, Failure> {
    let config = AwsConfig::from_environment().await;
    let remote = AwsRemote::read(&config, table, clock)?;
    let table = DynamoTable::new(&config, table);
    let ready = match is_made {
        true => table.create_table().await,
        false => table.ready().await,
    };
    ready.map_err(|error| {
        let failure = Failure::new(Exit::Storage, "tableUnusable", error.to_string());
        match is_made {
            true => failure,
            false => failure.help("--create-table makes a table that is missing"),
        }
    })?;
    let table = Arc::new(table);
    let mut store = Store::new(Arc::clone(&table) as _, StoreConfig::dynamo());
    let mut listed: Option<Arc<dyn ListBlobs>> = None;
    if let Some(bucket) = bucket {
        let blobs = S3Blobs::new(&config, bucket);
        blobs
            .ready()
            .await
            .map_err(|error| Failure::new(Exit::Storage, "bucketUnusable", error.to_string()))?;
        store = store.with_blobs(Arc::new(blobs.clone()));
        listed = Some(Arc::new(blobs));
    }
    Ok(Storage {
        scheduler: TableScheduler::shared(store.clone(), clock.random()),
        store,
        scan: table,
        blobs: listed,
        lease_ms: LEASE_MS,
        embedded: None,
        remote: Some(Box::new(remote)),
    })
}
