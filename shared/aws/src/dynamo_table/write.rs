//! Writes: one alone as a plain request, several as a transaction, which costs twice as much.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, Update,
};
use dormouse_store::table::limits::TRANSACTION_BYTES_MAX;
use dormouse_store::table::{Change, Condition, Item, TableError, Write, Written};

use super::DynamoTable;
use super::expression::Placeholders;
use super::item::{item_from, item_map, key_map};
use crate::error::{self, Cancelled, Conditional};

/// How often a transaction is sent under one token before its outcome is unknown.
const ATTEMPTS_MAX: u32 = 3;

/// The condition's item comes back with the refusal, so that the caller need not read it.
const WITH_ITEM: ReturnValuesOnConditionCheckFailure = ReturnValuesOnConditionCheckFailure::AllOld;

impl DynamoTable {
    /// Does a single write at its single price.
    pub(super) async fn write_one(&self, write: &Write) -> Result<Written, TableError> {
        let size = write_size(write);
        let mut placeholders = Placeholders::default();
        let outcome = match write {
            Write::Put(item, condition) => {
                let request = self
                    .writer
                    .put_item()
                    .table_name(&self.name)
                    .set_item(Some(item_map(item)))
                    .set_condition_expression(placeholders.condition(condition))
                    .set_expression_attribute_names(placeholders.take_names())
                    .set_expression_attribute_values(placeholders.take_values())
                    .return_values_on_condition_check_failure(WITH_ITEM);
                settled(request.send().await, &self.name, size)?
            }
            Write::Update(key, changes, condition) => {
                let request = self
                    .writer
                    .update_item()
                    .table_name(&self.name)
                    .set_key(Some(key_map(key)))
                    .set_update_expression(placeholders.changes(changes))
                    .set_condition_expression(placeholders.guarded(condition, changes))
                    .set_expression_attribute_names(placeholders.take_names())
                    .set_expression_attribute_values(placeholders.take_values())
                    .return_values_on_condition_check_failure(WITH_ITEM);
                settled(request.send().await, &self.name, size)?
            }
            Write::Delete(key, condition) => {
                let request = self
                    .writer
                    .delete_item()
                    .table_name(&self.name)
                    .set_key(Some(key_map(key)))
                    .set_condition_expression(placeholders.condition(condition))
                    .set_expression_attribute_names(placeholders.take_names())
                    .set_expression_attribute_values(placeholders.take_values())
                    .return_values_on_condition_check_failure(WITH_ITEM);
                settled(request.send().await, &self.name, size)?
            }
            // There is no plain request that only checks.
            Write::Check(..) => return self.write_several(std::slice::from_ref(write)).await,
        };
        Ok(match outcome {
            None => Written::Done,
            Some(item) => Written::Refused(vec![Some(judged(item, write.condition())?)]),
        })
    }

    /// Does all of the writes or none.
    pub(super) async fn write_several(&self, writes: &[Write]) -> Result<Written, TableError> {
        let size = size_of(writes)?;
        let actions = writes
            .iter()
            .map(|write| self.action(write))
            .collect::<Result<Vec<_>, _>>()?;
        // Random, not derived from the content: the same content may be meant twice.
        let token = format!("{:032x}", fastrand::u128(..));
        let request = self
            .writer
            .transact_write_items()
            .set_transact_items(Some(actions))
            .client_request_token(token);
        let mut lost = None;
        for _ in 0..ATTEMPTS_MAX {
            let failed = match request.clone().send().await {
                Ok(_) => return Ok(Written::Done),
                Err(failed) => failed,
            };
            match error::transaction_failed(failed, &self.name, size) {
                Cancelled::Conditions(reasons) => return refusals(reasons, writes),
                Cancelled::Otherwise(cause @ TableError::Unknown(_)) => lost = Some(cause),
                // "Nothing happened" is then true of this attempt only, not of the one whose answer was lost.
                Cancelled::Otherwise(cause) => return Err(lost.unwrap_or(cause)),
            }
        }
        Err(lost.unwrap_or(TableError::Busy))
    }

    fn action(&self, write: &Write) -> Result<TransactWriteItem, TableError> {
        let mut placeholders = Placeholders::default();
        let action = TransactWriteItem::builder();
        let action = match write {
            Write::Put(item, condition) => action.put(
                Put::builder()
                    .table_name(&self.name)
                    .set_item(Some(item_map(item)))
                    .set_condition_expression(placeholders.condition(condition))
                    .set_expression_attribute_names(placeholders.take_names())
                    .set_expression_attribute_values(placeholders.take_values())
                    .return_values_on_condition_check_failure(WITH_ITEM)
                    .build()
                    .map_err(unsound)?,
            ),
            Write::Update(key, changes, condition) => action.update(
                Update::builder()
                    .table_name(&self.name)
                    .set_key(Some(key_map(key)))
                    .update_expression(
                        placeholders
                            .changes(changes)
                            .unwrap_or_else(|| placeholders.no_changes()),
                    )
                    .set_condition_expression(placeholders.guarded(condition, changes))
                    .set_expression_attribute_names(placeholders.take_names())
                    .set_expression_attribute_values(placeholders.take_values())
                    .return_values_on_condition_check_failure(WITH_ITEM)
                    .build()
                    .map_err(unsound)?,
            ),
            Write::Delete(key, condition) => action.delete(
                Delete::builder()
                    .table_name(&self.name)
                    .set_key(Some(key_map(key)))
                    .set_condition_expression(placeholders.condition(condition))
                    .set_expression_attribute_names(placeholders.take_names())
                    .set_expression_attribute_values(placeholders.take_values())
                    .return_values_on_condition_check_failure(WITH_ITEM)
                    .build()
                    .map_err(unsound)?,
            ),
            Write::Check(key, condition) => action.condition_check(
                ConditionCheck::builder()
                    .table_name(&self.name)
                    .set_key(Some(key_map(key)))
                    .condition_expression(placeholders.stated(condition))
                    .set_expression_attribute_names(placeholders.take_names())
                    .set_expression_attribute_values(placeholders.take_values())
                    .return_values_on_condition_check_failure(WITH_ITEM)
                    .build()
                    .map_err(unsound)?,
            ),
        };
        Ok(action.build())
    }
}

/// What a refused single write returned: the item as it stands.
///
/// # Errors
///
/// The failure, if it was another than the condition.
pub(super) fn refused<E>(
    failed: SdkError<E>,
    table: &str,
    size: usize,
) -> Result<Option<Item>, TableError>
where
    E: Conditional + ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    match failed.as_service_error().and_then(Conditional::refusal) {
        Some(refusal) => refusal.item().cloned().map(item_from).transpose(),
        None => Err(error::write_failed(failed, table, size)),
    }
}

/// `None` if the write happened, the item if its condition refused it.
fn settled<T, E>(
    answer: Result<T, SdkError<E>>,
    table: &str,
    size: usize,
) -> Result<Option<Option<Item>>, TableError>
where
    E: Conditional + ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    match answer {
        Ok(_) => Ok(None),
        Err(failed) => refused(failed, table, size).map(Some),
    }
}

fn refusals(reasons: Vec<CancellationReason>, writes: &[Write]) -> Result<Written, TableError> {
    let refusals = reasons.into_iter().zip(writes).map(|(reason, write)| {
        if !error::by_condition(&reason) {
            return Ok(None);
        }
        let item = reason.item.map(item_from).transpose()?;
        judged(item, write.condition()).map(Some)
    });
    refusals.collect::<Result<_, _>>().map(Written::Refused)
}

/// The item of a refused write, if it was the caller's condition that refused it.
///
/// # Errors
///
/// [`TableError::Invalid`] if the condition holds: then it was the guard of a sum.
pub(super) fn judged(
    item: Option<Item>,
    condition: &Condition,
) -> Result<Option<Item>, TableError> {
    if condition.holds(item.as_ref().map(|item| &item.attributes)) {
        let what = "a sum would leave the range of 64-bit whole numbers";
        return Err(TableError::Invalid(what.to_owned()));
    }
    Ok(item)
}

/// The size of several writes in bytes, as far as it is known here.
///
/// # Errors
///
/// [`TableError::TooLarge`] if it is too much already. DynamoDB says so too, but names no size.
fn size_of(writes: &[Write]) -> Result<usize, TableError> {
    let size = writes.iter().map(write_size).sum();
    if size > TRANSACTION_BYTES_MAX {
        let what = "bytes of one write";
        return Err(TableError::TooLarge {
            what,
            size,
            limit: TRANSACTION_BYTES_MAX,
        });
    }
    Ok(size)
}

fn write_size(write: &Write) -> usize {
    match write {
        Write::Put(item, _) => item.size_bytes(),
        Write::Update(_, changes, _) => changes_size(changes),
        Write::Delete(..) | Write::Check(..) => 0,
    }
}

/// The bytes that an update sets.
pub(super) fn changes_size(changes: &[Change]) -> usize {
    let size = |change: &Change| match change {
        Change::Set(name, value) => name.len() + value.size_bytes(),
        Change::Remove(_) | Change::Add(..) => 0,
    };
    changes.iter().map(size).sum()
}

/// The SDK found a required field missing, which the code above makes impossible.
fn unsound(cause: aws_sdk_dynamodb::error::BuildError) -> TableError {
    TableError::Unusable("a request was incomplete".to_owned(), Some(Box::new(cause)))
}
