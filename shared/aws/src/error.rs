//! What an AWS error means. AWS's codes are read in this file and its module, and nowhere else.
//!
//! The one question that matters after a failed write is whether it may have happened. It may, unless the
//! service said no or was never reached; only then is the answer anything else than [`TableError::Unknown`].

#[cfg(feature = "messages")]
mod invocation;

use std::error::Error;
use std::io;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::CancellationReason;
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use dormouse_store::table::TableError;
use dormouse_store::table::limits::ITEM_BYTES_MAX;

#[cfg(feature = "messages")]
pub(crate) use invocation::{not_invoked, thrown};

/// The answer of one conditional write that failed.
pub(crate) trait Conditional {
    /// The refusal, if the condition was the reason.
    fn refusal(&self) -> Option<&ConditionalCheckFailedException>;
}

macro_rules! conditional {
    ($($error:ty),+) => {$(
        impl Conditional for $error {
            fn refusal(&self) -> Option<&ConditionalCheckFailedException> {
                match self {
                    Self::ConditionalCheckFailedException(refusal) => Some(refusal),
                    _ => None,
                }
            }
        }
    )+};
}
conditional!(PutItemError, UpdateItemError, DeleteItemError);

/// What the service meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Nothing happened, and the same may succeed later.
    Busy,
    /// It may have happened.
    Unknown,
    /// Nothing happened: the item or the request is too large.
    TooLarge,
    /// Nothing happened: there is no such table.
    NoTable,
    /// Nothing happened: it is not known who asks.
    NoCredentials,
    /// Nothing happened: the caller is not allowed to, or not known.
    Forbidden,
    /// Nothing happened: the request is wrong, or wrong for the item that is stored.
    Invalid,
    /// Nothing happened, and repeating it will not help.
    Refused,
}

fn meaning(code: Option<&str>, message: &str, status: u16) -> Meaning {
    match code.unwrap_or_default() {
        "ProvisionedThroughputExceededException"
        | "ProvisionedThroughputExceeded"
        | "ThrottlingException"
        | "ThrottlingError"
        | "RequestLimitExceeded"
        | "LimitExceededException"
        | "TransactionConflictException"
        | "TransactionConflict"
        | "ReplicatedWriteConflictException" => Meaning::Busy,
        // An earlier request with the same token is still under way.
        "TransactionInProgressException" => Meaning::Unknown,
        "ResourceNotFoundException" => Meaning::NoTable,
        "AccessDeniedException"
        | "UnrecognizedClientException"
        | "ExpiredTokenException"
        | "InvalidSignatureException"
        | "IncompleteSignatureException"
        | "MissingAuthenticationTokenException" => Meaning::Forbidden,
        "ItemCollectionSizeLimitExceededException" | "ItemCollectionSizeLimitExceeded" => {
            Meaning::TooLarge
        }
        // DynamoDB has one code for everything that is wrong with a request. Its words are "Item size has
        // exceeded the maximum allowed size", "Item size to update has exceeded …" and, for transactions,
        // "Collection size … exceeded".
        "ValidationException" | "ValidationError"
            if message.contains("size") && message.contains("exceed") =>
        {
            Meaning::TooLarge
        }
        "ValidationException" | "ValidationError" => Meaning::Invalid,
        _ if status == 413 => Meaning::TooLarge,
        _ if status >= 500 => Meaning::Unknown,
        _ => Meaning::Refused,
    }
}

/// Why a read failed. A read that may be repeated is [`TableError::Busy`]: nothing can have happened.
pub(crate) fn read_failed<E>(error: SdkError<E>, table: &str) -> TableError
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
{
    match write_failed(error, table, 0) {
        TableError::Unknown(cause) => {
            tracing::warn!(table, error = causes(&*cause), "a read failed");
            TableError::Busy
        }
        answered @ (TableError::Busy
        | TableError::TooLarge { .. }
        | TableError::Full(_)
        | TableError::BadCursor
        | TableError::Invalid(_)
        | TableError::InUse(_)
        | TableError::Unusable(..)) => answered,
    }
}

/// Why a write failed, and so whether it may have happened. `size`: of what was sent, in bytes.
pub(crate) fn write_failed<E>(error: SdkError<E>, table: &str, size: usize) -> TableError
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
{
    let meaning = match &error {
        SdkError::ConstructionFailure(_) | SdkError::DispatchFailure(_)
            if find::<CredentialsError>(&error).is_some() =>
        {
            Meaning::NoCredentials
        }
        SdkError::ConstructionFailure(_) => Meaning::Refused,
        SdkError::DispatchFailure(_) if never_sent(&error) => Meaning::Busy,
        SdkError::ServiceError(answer) => {
            let (code, message) = (answer.err().code(), answer.err().message());
            meaning(
                code,
                message.unwrap_or_default(),
                answer.raw().status().as_u16(),
            )
        }
        SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_) => {
            Meaning::Unknown
        }
        // The enum is open: what the SDK adds one day is unknown in both senses.
        _ => Meaning::Unknown,
    };
    failure(meaning, said(&error), error, table, size)
}

/// The service's own words, or the chain of causes where it never spoke.
pub(crate) fn said<E>(error: &SdkError<E>) -> String
where
    E: ProvideErrorMetadata + Error + 'static,
{
    error.message().map_or_else(|| causes(error), str::to_owned)
}

/// An error and all its causes in words. The SDK's own way adds their inner structure.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    let own = error.to_string();
    match error.source() {
        Some(cause) => format!("{own}: {}", causes(cause)),
        None => own,
    }
}

fn failure<E>(
    meaning: Meaning,
    said: String,
    error: SdkError<E>,
    table: &str,
    size: usize,
) -> TableError
where
    E: Error + Send + Sync + 'static,
{
    match meaning {
        Meaning::Busy => {
            tracing::debug!(table, said, "the table is busy");
            TableError::Busy
        }
        Meaning::Unknown => TableError::Unknown(Box::new(error)),
        Meaning::TooLarge => too_large(size),
        Meaning::NoTable => unusable(format!("there is no table `{table}`"), error),
        Meaning::NoCredentials => {
            // The causes are a page of what was tried; they stay with the error.
            let set = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
            unusable(
                format!("there are no AWS credentials for `{table}`: {set}"),
                error,
            )
        }
        Meaning::Forbidden => unusable(format!("AWS does not let us use `{table}`: {said}"), error),
        Meaning::Invalid => TableError::Invalid(said),
        Meaning::Refused => unusable(format!("DynamoDB refused the request: {said}"), error),
    }
}

/// DynamoDB names no size. What was sent may be less than the limit: an update adds to what is there.
fn too_large(sent: usize) -> TableError {
    let limit = ITEM_BYTES_MAX;
    TableError::TooLarge {
        what: "an item, at least,",
        size: sent.max(limit + 1),
        limit,
    }
}

fn unusable<E: Error + Send + Sync + 'static>(message: String, cause: E) -> TableError {
    TableError::Unusable(message, Some(Box::new(cause)))
}

/// Whether the connection was refused, so that not one byte of the request left.
fn never_sent(error: &(dyn Error + 'static)) -> bool {
    find::<io::Error>(error).is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// The first cause of a kind.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    error.downcast_ref().or_else(|| find(error.source()?))
}

/// What became of a transaction that was cancelled: nothing happened.
pub(crate) enum Cancelled {
    /// At least one condition did not hold. Per write: whether its condition was the reason.
    Conditions(Vec<CancellationReason>),
    /// For another reason.
    Otherwise(TableError),
}

/// Whether the write of this reason was refused by its own condition.
pub(crate) fn by_condition(reason: &CancellationReason) -> bool {
    reason.code() == Some("ConditionalCheckFailed")
}

/// Why a transaction failed. A condition that did not hold outweighs a conflict of another write in the same
/// transaction: DynamoDB looked at that condition's item and saw no other writer there, so it is an answer.
pub(crate) fn transaction_failed(
    error: SdkError<TransactWriteItemsError>,
    table: &str,
    size: usize,
) -> Cancelled {
    let reasons = match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
            cancelled.cancellation_reasons().to_vec()
        }
        _ => return Cancelled::Otherwise(write_failed(error, table, size)),
    };
    if reasons.iter().any(by_condition) {
        return Cancelled::Conditions(reasons);
    }
    let others: Vec<(Meaning, &str)> = reasons
        .iter()
        .filter(|reason| reason.code().is_some_and(|code| code != "None"))
        .map(|reason| {
            let message = reason.message().unwrap_or_default();
            (meaning(reason.code(), message, 400), message)
        })
        .collect();
    // What can never succeed is worth more than what may succeed later.
    let worst = others.iter().find(|(meaning, _)| *meaning != Meaning::Busy);
    let (meaning, said) = worst
        .copied()
        .unwrap_or((Meaning::Busy, "conflict or throttling"));
    Cancelled::Otherwise(failure(meaning, said.to_owned(), error, table, size))
}

/// Whether there is no object under the name.
#[cfg(feature = "s3")]
pub(crate) fn is_no_object(
    error: &SdkError<aws_sdk_s3::operation::get_object::GetObjectError>,
) -> bool {
    error
        .as_service_error()
        .is_some_and(|error| error.is_no_such_key())
}

/// A call that was not done, or of which it is not known.
#[cfg(feature = "messages")]
#[derive(Debug, thiserror::Error)]
#[error("{what} at {place} fails: {said}")]
pub struct CallError {
    what: String,
    place: String,
    said: String,
    #[source]
    cause: Box<dyn Error + Send + Sync>,
}

#[cfg(feature = "messages")]
impl CallError {
    /// Something is wrong with what was to be sent.
    pub(crate) fn unsent(
        what: String,
        place: &str,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        let cause = cause.into();
        Self {
            what,
            place: place.to_owned(),
            said: causes(&*cause),
            cause,
        }
    }
}

/// A call to `what` failed.
#[cfg(feature = "messages")]
pub(crate) fn call_failed<E>(what: String, place: &str, failed: SdkError<E>) -> CallError
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
{
    CallError {
        what,
        place: place.to_owned(),
        said: said(&failed),
        cause: Box::new(failed),
    }
}

/// Whether there is a schedule of that name already.
#[cfg(feature = "messages")]
pub(crate) fn is_scheduled_already(
    error: &SdkError<aws_sdk_scheduler::operation::create_schedule::CreateScheduleError>,
) -> bool {
    error
        .as_service_error()
        .is_some_and(|error| error.is_conflict_exception())
}

/// Whether there is no schedule of that name.
#[cfg(feature = "messages")]
pub(crate) fn is_no_schedule(
    error: &SdkError<aws_sdk_scheduler::operation::delete_schedule::DeleteScheduleError>,
) -> bool {
    error
        .as_service_error()
        .is_some_and(|error| error.is_resource_not_found_exception())
}

/// Whether there is no queue of that name.
#[cfg(feature = "messages")]
pub(crate) fn is_no_queue<E: ProvideErrorMetadata>(error: &SdkError<E>) -> bool {
    matches!(
        error.code(),
        Some("QueueDoesNotExist" | "AWS.SimpleQueueService.NonExistentQueue")
    )
}
