//! The table port on DynamoDB: one table, keys `p` and `s`, three indexes, time to live `ttl`.
//!
//! A write that got no answer is never repeated behind the caller's back: the second try of a conditional write
//! that did succeed would be refused, and a success would read as a lost race. Only a transaction is repeated,
//! under the token that makes DynamoDB answer for the first try. Reads are repeated by the SDK.

mod expression;
mod item;
mod query;
mod scan;
mod schema;
mod write;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::types::{ReturnValue, ReturnValuesOnConditionCheckFailure};
use dormouse_store::table::limits::{check_changes, check_writes};
use dormouse_store::table::{
    Change, Condition, Durability, Item, Key, Page, Query, Table, TableError, Updated, Write,
    Written,
};
use futures_util::future::try_join_all;

use crate::config::AwsConfig;
use crate::error;

use expression::Placeholders;
use item::{item_from, key_map};

/// The service's name in `AWS_ENDPOINT_URL_DYNAMODB`.
const SERVICE: &str = "DYNAMODB";

/// A DynamoDB table as the [`Table`] port.
#[derive(Debug, Clone)]
pub struct DynamoTable {
    /// Repeats what failed; for what changes nothing.
    reader: Client,
    /// Tries once.
    writer: Client,
    name: String,
    place: String,
}

/// How many plain writes are under way at once.
const WRITES_BESIDE: usize = 16;

impl DynamoTable {
    /// The table `name` where `config` says. Nothing is asked of AWS yet; see [`DynamoTable::ready`].
    pub fn new(config: &AwsConfig, name: impl Into<String>) -> Self {
        let once = aws_sdk_dynamodb::config::Builder::from(config.sdk())
            .retry_config(RetryConfig::disabled())
            .build();
        Self {
            reader: Client::new(config.sdk()),
            writer: Client::from_conf(once),
            name: name.into(),
            place: config.place(SERVICE),
        }
    }
}

#[async_trait]
impl Table for DynamoTable {
    async fn get(&self, key: &Key) -> Result<Option<Item>, TableError> {
        key.check()?;
        let request = self
            .reader
            .get_item()
            .table_name(&self.name)
            .consistent_read(true);
        let answer = request
            .set_key(Some(key_map(key)))
            .send()
            .await
            .map_err(|failed| error::read_failed(failed, &self.name))?;
        answer.item.map(item_from).transpose()
    }

    async fn query(&self, query: &Query) -> Result<Page, TableError> {
        self.page(query).await
    }

    async fn count(&self, query: &Query, most: u64) -> Result<u64, TableError> {
        self.count_of(query, most).await
    }

    async fn update(
        &self,
        key: &Key,
        changes: &[Change],
        condition: &Condition,
        _durability: Durability,
    ) -> Result<Updated, TableError> {
        check_changes(key, changes)?;
        let mut placeholders = Placeholders::default();
        let request = self
            .writer
            .update_item()
            .table_name(&self.name)
            .set_key(Some(key_map(key)))
            .set_update_expression(placeholders.changes(changes))
            .set_condition_expression(placeholders.guarded(condition, changes))
            .set_expression_attribute_names(placeholders.take_names())
            .set_expression_attribute_values(placeholders.take_values())
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        match request.send().await {
            Ok(answer) => {
                let map = answer.attributes.unwrap_or_else(|| key_map(key));
                Ok(Updated::New(item_from(map)?))
            }
            Err(failed) => {
                let size = write::changes_size(changes);
                let item = write::refused(failed, &self.name, size)?;
                write::judged(item, condition).map(Updated::Refused)
            }
        }
    }

    async fn write(&self, writes: &[Write]) -> Result<Written, TableError> {
        check_writes(writes)?;
        match writes {
            [one] => self.write_one(one).await,
            several => self.write_several(several).await,
        }
    }

    /// Beside each other, each as a plain request: half the price of a transaction, and one round trip for a few.
    async fn write_each(&self, writes: &[Write]) -> Result<(), TableError> {
        for together in writes.chunks(WRITES_BESIDE) {
            let each = together.iter().map(|write| self.write_one(write));
            for written in try_join_all(each).await? {
                if let Written::Refused(_) = written {
                    return Err(TableError::Invalid("a plain write has a condition".into()));
                }
            }
        }
        Ok(())
    }
}
