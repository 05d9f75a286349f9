//! A node's own queue: what the topic tells, each node that lives on hears.
//!
//! The node makes the queue, subscribes it, says by a tag that it lives, and deletes it at its end. The queue of a node
//! that was killed is removed by whoever sweeps, when its tag has not been renewed for a while.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::types::QueueAttributeName;
use dormouse_runtime::Runtime;
use dormouse_runtime::port::{Clock, DefinitionChanged};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;

use crate::config::AwsConfig;
use crate::error::{self, CallError, call_failed};
use crate::sqs_poller::Inbox;

/// The tag that says when a node was last known to live, in seconds since 1970.
const SEEN: &str = "dormouse:seen";

/// How often a node says that it lives.
const EVERY: Duration = Duration::from_secs(5 * 60);

/// A queue whose node has not said so for this long is an orphan, in seconds.
const ORPHAN_S: i64 = 20 * 60;

/// How long a message waits for a node that is slow, in seconds. Older news are no news: a start checks the version.
const KEPT_S: u32 = 300;

/// How soon a queue that could not be asked is asked again.
const AGAIN: Duration = Duration::from_secs(2);

/// The queues of a deployment's nodes.
#[derive(Clone)]
pub struct NodeQueues {
    config: AwsConfig,
    sqs: aws_sdk_sqs::Client,
    sns: aws_sdk_sns::Client,
    clock: Arc<dyn Clock>,
    topic_arn: String,
    prefix: String,
}

/// One node's queue.
pub struct NodeQueue {
    queues: NodeQueues,
    url: String,
    subscription_arn: String,
}

/// How a topic wraps a message for a queue that does not take it raw.
#[derive(Debug, Deserialize)]
struct Envelope {
    #[serde(rename = "Message")]
    message: String,
}

impl NodeQueues {
    /// The queues of the nodes of a deployment that hear the topic.
    pub fn new(
        config: &AwsConfig,
        clock: Arc<dyn Clock>,
        topic_arn: &str,
        deployment: &str,
    ) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let deployment: String = deployment.chars().take(48).map(plain).collect();
        Self {
            config: config.clone(),
            sqs: aws_sdk_sqs::Client::new(config.sdk()),
            sns: aws_sdk_sns::Client::new(config.sdk()),
            clock,
            topic_arn: topic_arn.to_owned(),
            prefix: format!("{deployment}-node-"),
        }
    }

    /// Makes the queue of a node, and subscribes it.
    ///
    /// # Errors
    ///
    /// [`CallError`]: there is no queue then, or it is an orphan.
    pub async fn open(&self) -> Result<NodeQueue, CallError> {
        let name = format!("{}{:016x}", self.prefix, self.clock.random());
        let made = self
            .sqs
            .create_queue()
            .queue_name(&name)
            .attributes(
                QueueAttributeName::MessageRetentionPeriod,
                KEPT_S.to_string(),
            )
            .tags(SEEN, self.now_s().to_string())
            .send()
            .await;
        let made = made.map_err(|failed| self.failed(&name, failed))?;
        let url = made.queue_url.unwrap_or_default();
        let asked = self
            .sqs
            .get_queue_attributes()
            .queue_url(&url)
            .attribute_names(QueueAttributeName::QueueArn)
            .send()
            .await;
        let asked = asked.map_err(|failed| self.failed(&name, failed))?;
        let attributes = asked.attributes.unwrap_or_default();
        let arn = attributes
            .get(&QueueAttributeName::QueueArn)
            .cloned()
            .unwrap_or_default();
        let allowed = self
            .sqs
            .set_queue_attributes()
            .queue_url(&url)
            .attributes(QueueAttributeName::Policy, self.policy(&arn))
            .send()
            .await;
        allowed.map_err(|failed| self.failed(&name, failed))?;
        let subscribed = self
            .sns
            .subscribe()
            .topic_arn(&self.topic_arn)
            .protocol("sqs")
            .endpoint(&arn)
            .attributes("RawMessageDelivery", "true")
            .return_subscription_arn(true)
            .send()
            .await;
        let subscribed = subscribed.map_err(|failed| self.failed(&name, failed))?;
        Ok(NodeQueue {
            queues: self.clone(),
            url,
            subscription_arn: subscribed.subscription_arn.unwrap_or_default(),
        })
    }

    /// Removes the queues of nodes that were killed, with their subscriptions, by which they are found: listing queues
    /// cannot be allowed for a few of them. Answers how many there were.
    ///
    /// # Errors
    ///
    /// [`CallError`]: some are left for the next time.
    pub async fn remove_orphans(&self) -> Result<u32, CallError> {
        let mut removed = 0;
        let request = self.sns.list_subscriptions_by_topic();
        let request = request.topic_arn(&self.topic_arn);
        let mut pages = request.into_paginator().send();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|failed| self.failed(&self.topic_arn, failed))?;
            for subscription in page.subscriptions.unwrap_or_default() {
                let endpoint = subscription.endpoint.unwrap_or_default();
                let name = endpoint.rsplit(':').next().unwrap_or_default();
                if !name.starts_with(&self.prefix) || !self.removes(name).await? {
                    continue;
                }
                let arn = subscription.subscription_arn.unwrap_or_default();
                let gone = self.sns.unsubscribe().subscription_arn(arn).send().await;
                gone.map_err(|failed| self.failed(name, failed))?;
                tracing::info!(name, "the queue of a node that is gone is removed");
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Removes a queue if it is an orphan. Whether its subscription is of no use any more.
    async fn removes(&self, name: &str) -> Result<bool, CallError> {
        let url = match self.sqs.get_queue_url().queue_name(name).send().await {
            Ok(found) => found.queue_url.unwrap_or_default(),
            Err(failed) if error::is_no_queue(&failed) => return Ok(true),
            Err(failed) => return Err(self.failed(name, failed)),
        };
        let tags = match self.sqs.list_queue_tags().queue_url(&url).send().await {
            Ok(tags) => tags.tags.unwrap_or_default(),
            Err(failed) if error::is_no_queue(&failed) => return Ok(true),
            Err(failed) => return Err(self.failed(name, failed)),
        };
        let seen: Option<i64> = tags.get(SEEN).and_then(|seconds| seconds.parse().ok());
        // One without the tag is not of our making.
        let is_orphan = seen.is_some_and(|seen| self.now_s() - seen > ORPHAN_S);
        if is_orphan {
            self.delete(&url).await?;
        }
        Ok(is_orphan)
    }

    async fn delete(&self, url: &str) -> Result<(), CallError> {
        match self.sqs.delete_queue().queue_url(url).send().await {
            Ok(_) => Ok(()),
            Err(failed) if error::is_no_queue(&failed) => Ok(()),
            Err(failed) => Err(self.failed(url, failed)),
        }
    }

    /// Only the topic may send to the queue.
    fn policy(&self, arn: &str) -> String {
        json!({
            "Version": "2012-10-17",
            "Statement": [{
                "Effect": "Allow",
                "Principal": { "Service": "sns.amazonaws.com" },
                "Action": "sqs:SendMessage",
                "Resource": arn,
                "Condition": { "ArnEquals": { "aws:SourceArn": self.topic_arn } },
            }],
        })
        .to_string()
    }

    fn now_s(&self) -> i64 {
        self.clock.now().0 / 1_000
    }

    fn failed<E>(&self, what: &str, failed: aws_sdk_sqs::error::SdkError<E>) -> CallError
    where
        E: aws_sdk_sqs::error::ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        call_failed(
            format!("the node queue `{what}`"),
            &self.config.place("SQS"),
            failed,
        )
    }
}

impl NodeQueue {
    /// Passes what the topic tells to the node's runtime, until `stop` turns true; then the queue is deleted.
    pub async fn run(self, runtime: Runtime, mut stop: watch::Receiver<bool>) {
        let inbox = Inbox::new(&self.queues.config, &self.url);
        let mut lives = tokio::time::interval(EVERY);
        // The first tick is at once, and the queue was made just now.
        lives.tick().await;
        loop {
            let received = tokio::select! {
                received = inbox.receive(usize::MAX) => received,
                _ = lives.tick() => {
                    self.say_alive().await;
                    if let Err(error) = self.queues.remove_orphans().await {
                        tracing::info!(%error, "queues of nodes that are gone are left for later");
                    }
                    continue;
                }
                _ = async { stop.wait_for(|stop| *stop).await.is_ok() } => break,
            };
            match received {
                Ok(messages) => {
                    for message in &messages {
                        match changed(message.body().unwrap_or_default()) {
                            Some(changed) => runtime.graphs().invalidate(&changed),
                            None => tracing::error!("a message of the topic cannot be read"),
                        }
                        inbox.delete(message).await;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "changes cannot be received; trying again");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
        self.close().await;
    }

    async fn say_alive(&self) {
        let now = self.queues.now_s().to_string();
        let tags = HashMap::from([(SEEN.to_owned(), now)]);
        let request = self.queues.sqs.tag_queue().queue_url(&self.url);
        if let Err(failed) = request.set_tags(Some(tags)).send().await {
            let error = self.queues.failed(&self.url, failed);
            tracing::warn!(%error, "this node cannot say that it lives; trying again later");
        }
    }

    /// Unsubscribes and deletes the queue. What fails is an orphan, which somebody's sweep removes.
    async fn close(self) {
        let unsubscribe = self.queues.sns.unsubscribe();
        let gone = unsubscribe
            .subscription_arn(&self.subscription_arn)
            .send()
            .await;
        if let Err(failed) = gone {
            let error = self.queues.failed(&self.url, failed);
            tracing::info!(%error, "a subscription is left to the sweep");
        }
        if let Err(error) = self.queues.delete(&self.url).await {
            tracing::info!(%error, "a queue is left to the sweep");
        }
    }
}

/// The change in a message, raw or as the topic wraps it.
#[must_use]
pub fn changed(body: &str) -> Option<DefinitionChanged> {
    serde_json::from_str(body).ok().or_else(|| {
        let envelope: Envelope = serde_json::from_str(body).ok()?;
        serde_json::from_str(&envelope.message).ok()
    })
}
