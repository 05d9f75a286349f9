//! A batch of messages as Lambda takes it from SQS, and the answer that names those which are to come again.

use std::collections::BTreeMap;

use dormouse_aws::large_message::LargeMessages;
use dormouse_aws::queue_message::{Disposition, QueueMessage};
use dormouse_aws::sqs_queue::{NOT_BEFORE, SqsQueue};
use dormouse_runtime::Runtime;
use futures_util::future::join_all;
use lambda_runtime::Error;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::function::Function;

/// The attribute of SQS that counts how often a message was received.
const RECEIVES: &str = "ApproximateReceiveCount";

/// A batch.
#[derive(Debug, Clone, Deserialize)]
pub struct SqsEvent {
    /// Its messages.
    #[serde(rename = "Records")]
    pub records: Vec<SqsRecord>,
}

/// A message of a batch.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SqsRecord {
    /// Its id in the queue.
    pub message_id: String,
    /// What this receipt of it is called.
    #[serde(default)]
    pub receipt_handle: String,
    /// What it says.
    pub body: String,
    /// What SQS says of it.
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
    /// What its sender said of it.
    #[serde(default)]
    pub message_attributes: BTreeMap<String, SqsAttribute>,
    /// The queue.
    #[serde(default, rename = "eventSourceARN")]
    pub event_source_arn: String,
}

/// What a sender said of its message.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SqsAttribute {
    /// The value, if it is a text or a number.
    #[serde(default)]
    pub string_value: Option<String>,
}

/// Which messages are to come again. All others are deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SqsAnswer {
    /// The messages, by their ids.
    pub batch_item_failures: Vec<SqsFailure>,
}

/// A message that is to come again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SqsFailure {
    /// The message's id in the queue.
    pub item_identifier: String,
}

impl SqsRecord {
    fn message<'a>(&'a self, large: &'a LargeMessages) -> QueueMessage<'a> {
        let receives = self.attributes.get(RECEIVES).and_then(|n| n.parse().ok());
        let attribute = self.message_attributes.get(NOT_BEFORE);
        QueueMessage {
            large,
            id: &self.message_id,
            body: &self.body,
            receives: receives.unwrap_or(1),
            not_before_ms: attribute
                .and_then(|attribute| attribute.string_value.as_deref())
                .and_then(|ms| ms.parse().ok()),
        }
    }

    /// Handles the message; answers its id if it is to come again.
    async fn handle(&self, runtime: &Runtime, queues: [&SqsQueue; 2]) -> Option<SqsFailure> {
        let [resume, _] = queues;
        let message = self.message(resume.large());
        let Disposition::Again { after_s } = message.handle(runtime).await else {
            return None;
        };
        // Without this it comes back when the queue's visibility timeout is over, which is long.
        let queue = queues.into_iter().find(|q| q.is_at(&self.event_source_arn));
        if let Some(queue) = queue
            && let Err(error) = queue.postpone(&self.receipt_handle, after_s).await
        {
            tracing::warn!(id = self.message_id, %error, "a message comes back later than it could");
        }
        Some(SqsFailure {
            item_identifier: self.message_id.clone(),
        })
    }
}

impl SqsEvent {
    /// Handles all messages beside each other.
    pub async fn handle(&self, function: &Function, runtime: &Runtime) -> SqsAnswer {
        let messaging = function.messaging();
        let queues = [&messaging.resume, &messaging.timers];
        let each = self
            .records
            .iter()
            .map(|record| record.handle(runtime, queues));
        let failures = join_all(each).await;
        SqsAnswer {
            batch_item_failures: failures.into_iter().flatten().collect(),
        }
    }
}

/// Handles an event that brings messages: a batch of SQS, or one message alone as a rule or a schedule sends it.
///
/// # Errors
///
/// The event is of no kind that is known here, or the one message that it is must come again: Lambda tries twice more,
/// and then hands it to the function's dead-letter queue.
pub async fn handle_messages(
    function: &Function,
    runtime: &Runtime,
    event: Value,
) -> Result<Value, Error> {
    if event.get("Records").is_some() {
        let batch: SqsEvent = serde_json::from_value(event)?;
        return Ok(serde_json::to_value(batch.handle(function, runtime).await)?);
    }
    let id = event.get("id").and_then(Value::as_str).unwrap_or("event");
    let body = event.to_string();
    let alone = QueueMessage {
        large: function.messaging().resume.large(),
        id,
        body: &body,
        receives: 1,
        not_before_ms: None,
    };
    match alone.handle(runtime).await {
        Disposition::Delete => Ok(Value::Null),
        Disposition::Again { .. } => Err("the message could not be handled yet".into()),
    }
}
