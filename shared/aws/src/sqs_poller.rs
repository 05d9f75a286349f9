//! Taking messages from a queue in a process that lives on: a container does for itself what Lambda does for a
//! function.

use std::sync::Arc;
use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName};
use dormouse_runtime::Runtime;
use tokio::sync::{Semaphore, watch};

use crate::config::AwsConfig;
use crate::error::{CallError, call_failed};
use crate::queue_message::{Disposition, QueueMessage};
use crate::sqs_queue::{NOT_BEFORE, SqsQueue};

/// How long an empty queue is asked before it says so, in seconds: the longest that SQS takes.
const WAIT_S: i32 = 20;

/// How many messages are taken at once: the most that SQS gives.
const BATCH_MAX: usize = 10;

/// How many messages of a queue are handled beside each other.
const UNDER_WAY_MAX: usize = 64;

/// How soon a queue that could not be asked is asked again.
const AGAIN: Duration = Duration::from_secs(2);

/// What is received from a queue.
#[derive(Debug, Clone)]
pub(crate) struct Inbox {
    client: Client,
    url: String,
    place: String,
}

impl Inbox {
    pub(crate) fn new(config: &AwsConfig, url: impl Into<String>) -> Self {
        // An answer takes as long as the queue is empty, on purpose.
        let patient = TimeoutConfig::builder()
            .connect_timeout(Duration::from_secs(2))
            .operation_attempt_timeout(Duration::from_secs(30))
            .build();
        let settings = aws_sdk_sqs::config::Builder::from(config.sdk())
            .timeout_config(patient)
            .build();
        Self {
            client: Client::from_conf(settings),
            url: url.into(),
            place: config.place("SQS"),
        }
    }

    /// Waits for messages; none is an answer too.
    pub(crate) async fn receive(&self, most: usize) -> Result<Vec<Message>, CallError> {
        let request = self
            .client
            .receive_message()
            .queue_url(&self.url)
            .max_number_of_messages(i32::try_from(most.min(BATCH_MAX)).unwrap_or(1))
            .wait_time_seconds(WAIT_S)
            .message_system_attribute_names(MessageSystemAttributeName::ApproximateReceiveCount)
            .message_attribute_names(NOT_BEFORE);
        let received = request.send().await;
        let received = received.map_err(|failed| call_failed(self.what(), &self.place, failed))?;
        Ok(received.messages.unwrap_or_default())
    }

    /// Takes a message out of the queue. One that stays comes again, and changes nothing.
    pub(crate) async fn delete(&self, message: &Message) {
        let request = self.client.delete_message().queue_url(&self.url);
        let receipt = message.receipt_handle().unwrap_or_default();
        if let Err(failed) = request.receipt_handle(receipt).send().await {
            let error = call_failed(self.what(), &self.place, failed);
            tracing::debug!(%error, "a message that is done with stays in its queue");
        }
    }

    fn what(&self) -> String {
        format!("the queue `{}`", self.url)
    }
}

/// Hands the messages of a queue to a runtime.
#[derive(Clone)]
pub struct SqsPoller {
    inbox: Inbox,
    queue: SqsQueue,
}

impl SqsPoller {
    /// A poller of a queue where `config` says.
    pub fn new(config: &AwsConfig, queue: SqsQueue) -> Self {
        Self {
            inbox: Inbox::new(config, queue.url()),
            queue,
        }
    }

    /// Handles messages until `stop` turns true, and then waits for those under way.
    pub async fn run(self, runtime: Runtime, mut stop: watch::Receiver<bool>) {
        let free = Arc::new(Semaphore::new(UNDER_WAY_MAX));
        while !*stop.borrow() {
            let Ok(first) = Arc::clone(&free).acquire_owned().await else {
                return;
            };
            let most = 1 + free.available_permits();
            let received = tokio::select! {
                received = self.inbox.receive(most) => received,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            // The others take a place each; whoever asks for messages needs only one to wait with.
            drop(first);
            match received {
                Ok(messages) => {
                    for message in messages {
                        let Ok(place) = Arc::clone(&free).acquire_owned().await else {
                            return;
                        };
                        let (poller, runtime) = (self.clone(), runtime.clone());
                        tokio::spawn(async move {
                            poller.handle(&message, &runtime).await;
                            drop(place);
                        });
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "messages cannot be received; trying again");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
        let all = u32::try_from(UNDER_WAY_MAX).unwrap_or(1);
        let _closed = free.acquire_many(all).await;
    }

    async fn handle(&self, message: &Message, runtime: &Runtime) {
        let attribute = message.message_attributes().and_then(|a| a.get(NOT_BEFORE));
        let receives = message
            .attributes()
            .and_then(|a| a.get(&MessageSystemAttributeName::ApproximateReceiveCount));
        let arrived = QueueMessage {
            large: self.queue.large(),
            id: message.message_id().unwrap_or_default(),
            body: message.body().unwrap_or_default(),
            receives: receives.and_then(|n| n.parse().ok()).unwrap_or(1),
            not_before_ms: attribute
                .and_then(|a| a.string_value())
                .and_then(|ms| ms.parse().ok()),
        };
        match arrived.handle(runtime).await {
            Disposition::Delete => self.inbox.delete(message).await,
            Disposition::Again { after_s } => {
                let receipt = message.receipt_handle().unwrap_or_default();
                if let Err(error) = self.queue.postpone(receipt, after_s).await {
                    tracing::warn!(%error, "a message comes back later than it could");
                }
            }
        }
    }
}
