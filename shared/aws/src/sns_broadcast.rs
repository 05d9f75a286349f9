//! The broadcast port on SNS: one topic, to which every node's queue is subscribed.

use async_trait::async_trait;
use aws_sdk_sns::Client;
use dormouse_runtime::port::{Broadcast, DefinitionChanged, PortError};

use crate::config::AwsConfig;
use crate::error::call_failed;

/// The service's name in `AWS_ENDPOINT_URL_SNS`.
const SERVICE: &str = "SNS";

/// A topic as the [`Broadcast`] port. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SnsBroadcast {
    client: Client,
    topic_arn: String,
    place: String,
}

impl SnsBroadcast {
    /// The topic where `config` says. Nothing is asked of AWS yet.
    pub fn new(config: &AwsConfig, topic_arn: impl Into<String>) -> Self {
        Self {
            client: Client::new(config.sdk()),
            topic_arn: topic_arn.into(),
            place: config.place(SERVICE),
        }
    }
}

#[async_trait]
impl Broadcast for SnsBroadcast {
    async fn publish(&self, changed: &DefinitionChanged) -> Result<(), PortError> {
        let request = self
            .client
            .publish()
            .topic_arn(&self.topic_arn)
            .message(serde_json::to_string(changed)?);
        let sent = request.send().await;
        Ok(sent.map(drop).map_err(|failed| {
            call_failed(
                format!("the topic `{}`", self.topic_arn),
                &self.place,
                failed,
            )
        })?)
    }
}
