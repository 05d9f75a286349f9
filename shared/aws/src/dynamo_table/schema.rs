//! The table's shape, and its making for emulators and tests. On AWS the deployment template makes the same
//! table; the two must agree.

use std::time::Duration;

use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType, TableDescription, TableStatus, TimeToLiveSpecification,
};
use dormouse_store::table::limits::KEY_NAMES;
use dormouse_store::table::{Index, TableError};

use super::DynamoTable;
use super::item::{PARTITION, SORT};
use crate::error;

/// The attribute by which DynamoDB deletes items, in seconds since 1970.
const TIME_TO_LIVE: &str = "ttl";

/// A new table on an emulator is there at once, on AWS within a minute.
const CREATION_LIMIT: Duration = Duration::from_secs(120);

/// The name of an index; DynamoDB wants three characters at least.
pub(super) const fn index_name(index: Index) -> &'static str {
    match index {
        Index::One => "index1",
        Index::Two => "index2",
        Index::Three => "index3",
    }
}

impl DynamoTable {
    /// Whether the table is there, is ready for use, and has the keys and indexes that Dormouse needs.
    ///
    /// # Errors
    ///
    /// [`TableError::Unusable`] with a sentence that says what to do.
    pub async fn ready(&self) -> Result<(), TableError> {
        let (name, place) = (&self.name, &self.place);
        let request = self.reader.describe_table().table_name(name);
        let failed = match request.send().await {
            Ok(answer) => return self.check_shape(&answer.table.unwrap_or_else(nothing)),
            Err(failed) => failed,
        };
        if failed
            .as_service_error()
            .is_some_and(|error| error.is_resource_not_found_exception())
        {
            let missing = format!(
                "there is no table `{name}` at {place}: deploy the template first, or name another table"
            );
            return Err(TableError::Unusable(missing, Some(Box::new(failed))));
        }
        let said = error::said(&failed);
        Err(match error::read_failed(failed, name) {
            TableError::Unusable(what, cause) => {
                TableError::Unusable(format!("{what} (at {place})"), cause)
            }
            lost @ (TableError::Busy
            | TableError::Unknown(_)
            | TableError::TooLarge { .. }
            | TableError::Full(_)
            | TableError::BadCursor
            | TableError::InUse(_)
            | TableError::Invalid(_)) => {
                let silent = format!("`{name}` at {place} does not answer: {said}");
                TableError::Unusable(silent, Some(Box::new(lost)))
            }
        })
    }

    fn check_shape(&self, table: &TableDescription) -> Result<(), TableError> {
        let (name, place) = (&self.name, &self.place);
        let wrong = |what: String| Err(TableError::Unusable(what, None));
        // A table that is being updated works.
        match table.table_status() {
            Some(TableStatus::Active | TableStatus::Updating) => {}
            status => {
                let status = status.map_or("unknown", TableStatus::as_str);
                return wrong(format!(
                    "the table `{name}` at {place} is not ready: it is {status}"
                ));
            }
        }
        if !has_keys(table.key_schema(), KEY_NAMES) {
            return wrong(format!(
                "the table `{name}` at {place} is not one of Dormouse's: its keys are not {KEY_NAMES:?}"
            ));
        }
        for index in Index::EVERY {
            let wanted = index_name(index);
            let found = table.global_secondary_indexes().iter().any(|found| {
                found.index_name() == Some(wanted) && has_keys(found.key_schema(), index.keys())
            });
            if !found {
                return wrong(format!(
                    "the table `{name}` at {place} lacks the index `{wanted}`: deploy the template again"
                ));
            }
        }
        Ok(())
    }

    /// Makes the table, on demand, and waits until it is ready; a table that is there already is only checked.
    ///
    /// # Errors
    ///
    /// Those of [`DynamoTable::ready`], and [`TableError::Unusable`] where the table cannot be made.
    pub async fn create_table(&self) -> Result<(), TableError> {
        let mut request = self
            .writer
            .create_table()
            .table_name(&self.name)
            .billing_mode(BillingMode::PayPerRequest)
            .set_key_schema(Some(key_schema(KEY_NAMES)?))
            .attribute_definitions(text_attribute(PARTITION)?)
            .attribute_definitions(text_attribute(SORT)?);
        for index in Index::EVERY {
            let [partition, sort] = index.keys();
            request = request
                .attribute_definitions(text_attribute(partition)?)
                .attribute_definitions(text_attribute(sort)?)
                .global_secondary_indexes(secondary_index(index)?);
        }
        match request.send().await {
            Ok(_) => {}
            Err(failed) if is_there(failed.as_service_error()) => return self.ready().await,
            Err(failed) => return Err(error::write_failed(failed, &self.name, 0)),
        }
        let exists = self.reader.wait_until_table_exists().table_name(&self.name);
        exists.wait(CREATION_LIMIT).await.map_err(|failed| {
            let late = format!(
                "the table `{}` at {} does not become ready",
                self.name, self.place
            );
            TableError::Unusable(late, Some(Box::new(failed)))
        })?;
        let time_to_live = TimeToLiveSpecification::builder()
            .attribute_name(TIME_TO_LIVE)
            .enabled(true)
            .build()
            .map_err(unsound)?;
        self.writer
            .update_time_to_live()
            .table_name(&self.name)
            .time_to_live_specification(time_to_live)
            .send()
            .await
            .map_err(|failed| error::write_failed(failed, &self.name, 0))?;
        self.ready().await
    }
}

fn is_there(error: Option<&CreateTableError>) -> bool {
    error.is_some_and(CreateTableError::is_resource_in_use_exception)
}

fn nothing() -> TableDescription {
    TableDescription::builder().build()
}

fn has_keys(schema: &[KeySchemaElement], [partition, sort]: [&str; 2]) -> bool {
    let named = |kind: &KeyType, name: &str| {
        schema
            .iter()
            .any(|key| key.key_type() == kind && key.attribute_name() == name)
    };
    named(&KeyType::Hash, partition) && named(&KeyType::Range, sort)
}

fn key_schema([partition, sort]: [&str; 2]) -> Result<Vec<KeySchemaElement>, TableError> {
    [(partition, KeyType::Hash), (sort, KeyType::Range)]
        .into_iter()
        .map(|(name, kind)| {
            KeySchemaElement::builder()
                .attribute_name(name)
                .key_type(kind)
                .build()
                .map_err(unsound)
        })
        .collect()
}

fn text_attribute(name: &str) -> Result<AttributeDefinition, TableError> {
    AttributeDefinition::builder()
        .attribute_name(name)
        .attribute_type(ScalarAttributeType::S)
        .build()
        .map_err(unsound)
}

fn secondary_index(index: Index) -> Result<GlobalSecondaryIndex, TableError> {
    let projection = Projection::builder();
    let projection = match index {
        Index::One => projection
            .projection_type(ProjectionType::Include)
            .non_key_attributes(Index::SUMMARY),
        Index::Two | Index::Three => projection.projection_type(ProjectionType::KeysOnly),
    };
    GlobalSecondaryIndex::builder()
        .index_name(index_name(index))
        .set_key_schema(Some(key_schema(index.keys())?))
        .projection(projection.build())
        .build()
        .map_err(unsound)
}

fn unsound(cause: BuildError) -> TableError {
    TableError::Unusable("a request was incomplete".to_owned(), Some(Box::new(cause)))
}
