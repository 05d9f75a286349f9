//! A deployment on ministack: table, bucket, queues, topic, bus and schedules under names of its own, the variables that name
//! them, and what Lambda does between a queue and a function.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};
use aws_sdk_sqs::types::{MessageSystemAttributeName, QueueAttributeName};
use dormouse_aws::config::AwsConfig;
use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_aws::s3_blobs::S3Blobs;
use serde_json::{Map, Value, json};

use crate::lambda::Lambda;
use crate::ministack::Ministack;

static DEPLOYMENTS: AtomicU32 = AtomicU32::new(0);

/// A deployment.
pub struct Deployment {
    /// The emulator, as long as any deployment on it lives.
    pub server: Arc<Ministack>,
    /// How it is reached.
    pub config: AwsConfig,
    /// The prefix of all its names; also the table's name, the bucket's, the bus's and the group's.
    pub name: String,
    /// Messages.
    pub resume_url: String,
    /// Timers.
    pub timer_url: String,
    /// What a subscriber of the topic has.
    pub changes_url: String,
    /// The topic.
    pub topic_arn: String,
    /// The clients, for what a test wants to see.
    pub sqs: aws_sdk_sqs::Client,
    /// Likewise.
    pub scheduler: aws_sdk_scheduler::Client,
    /// Likewise.
    pub events: aws_sdk_eventbridge::Client,
}

impl Deployment {
    /// Makes one. `None` where ministack is not installed.
    ///
    /// # Errors
    ///
    /// The emulator refuses.
    pub async fn make() -> Result<Option<Self>> {
        let Some(server) = Ministack::shared()? else {
            return Ok(None);
        };
        let config = server.config();
        let number = DEPLOYMENTS.fetch_add(1, Ordering::Relaxed);
        let name = format!("dormouse-{}-{number}", std::process::id());
        DynamoTable::new(&config, &name).create_table().await?;
        S3Blobs::new(&config, &name).create_bucket().await?;
        let sqs = aws_sdk_sqs::Client::new(config.sdk());
        let sns = aws_sdk_sns::Client::new(config.sdk());
        let scheduler = aws_sdk_scheduler::Client::new(config.sdk());
        let events = aws_sdk_eventbridge::Client::new(config.sdk());
        let resume_url = queue(&sqs, &format!("{name}-resume")).await?;
        let timer_url = queue(&sqs, &format!("{name}-timer")).await?;
        let changes_url = queue(&sqs, &format!("{name}-changes")).await?;
        let topic = sns.create_topic().name(&name).send().await?;
        let topic_arn = topic.topic_arn.context("a topic has an ARN")?;
        sns.subscribe()
            .topic_arn(&topic_arn)
            .protocol("sqs")
            .endpoint(arn(&sqs, &changes_url).await?)
            .send()
            .await?;
        scheduler.create_schedule_group().name(&name).send().await?;
        events.create_event_bus().name(&name).send().await?;
        Ok(Some(Self {
            server,
            config,
            name,
            resume_url,
            timer_url,
            changes_url,
            topic_arn,
            sqs,
            scheduler,
            events,
        }))
    }

    /// Sends the bus's events that are not our own to the resume queue, as the template's rule does.
    ///
    /// # Errors
    ///
    /// The emulator refuses.
    pub async fn route_events(&self) -> Result<()> {
        let pattern = json!({ "source": [{ "anything-but": "dormouse" }] });
        self.route("others", &pattern, &self.resume_url).await
    }

    /// Sends events of the bus to a queue.
    ///
    /// # Errors
    ///
    /// The emulator refuses.
    pub async fn route(&self, rule: &str, pattern: &Value, url: &str) -> Result<()> {
        self.events
            .put_rule()
            .name(rule)
            .event_bus_name(&self.name)
            .event_pattern(pattern.to_string())
            .send()
            .await?;
        let target = aws_sdk_eventbridge::types::Target::builder()
            .id("queue")
            .arn(arn(&self.sqs, url).await?)
            .build()?;
        self.events
            .put_targets()
            .rule(rule)
            .event_bus_name(&self.name)
            .targets(target)
            .send()
            .await?;
        Ok(())
    }

    /// The variables of its functions.
    ///
    /// # Errors
    ///
    /// The emulator refuses.
    pub async fn variables(&self) -> Result<Vec<(&'static str, String)>> {
        let timer_arn = arn(&self.sqs, &self.timer_url).await?;
        let endpoint = self.config.sdk().endpoint_url().unwrap_or_default();
        Ok(vec![
            ("AWS_ENDPOINT_URL", endpoint.to_owned()),
            ("DORMOUSE_TABLE", self.name.clone()),
            ("DORMOUSE_BUCKET", self.name.clone()),
            ("DORMOUSE_RESUME_QUEUE_URL", self.resume_url.clone()),
            ("DORMOUSE_TIMER_QUEUE_URL", self.timer_url.clone()),
            ("DORMOUSE_TIMER_QUEUE_ARN", timer_arn),
            ("DORMOUSE_SCHEDULE_GROUP", self.name.clone()),
            (
                "DORMOUSE_SCHEDULE_ROLE_ARN",
                "arn:aws:iam::000000000000:role/schedules".to_owned(),
            ),
            ("DORMOUSE_TOPIC_ARN", self.topic_arn.clone()),
            ("DORMOUSE_BUS_NAME", self.name.clone()),
            ("DORMOUSE_LOG", "debug".to_owned()),
            ("DORMOUSE_AUTHENTICATION", "none".to_owned()),
        ])
    }

    /// Takes up to ten messages from a queue, waiting up to so many seconds for the first.
    ///
    /// # Errors
    ///
    /// The emulator refuses.
    pub async fn receive(
        &self,
        url: &str,
        wait_s: i32,
    ) -> Result<Vec<aws_sdk_sqs::types::Message>> {
        let received = self
            .sqs
            .receive_message()
            .queue_url(url)
            .max_number_of_messages(10)
            .wait_time_seconds(wait_s)
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .message_attribute_names("All")
            .send()
            .await?;
        Ok(received.messages.unwrap_or_default())
    }

    /// Hands a batch of a queue to a function, as Lambda does, and deletes what it does not want again. Answers how
    /// many messages there were, and the ids of those that come again.
    ///
    /// # Errors
    ///
    /// The emulator refuses.
    pub async fn hand_on(
        &self,
        url: &str,
        wait_s: i32,
        function: &Lambda,
    ) -> Result<(usize, Vec<String>)> {
        let messages = self.receive(url, wait_s).await?;
        if messages.is_empty() {
            return Ok((0, Vec::new()));
        }
        let arn = arn(&self.sqs, url).await?;
        let records: Vec<Value> = messages.iter().map(|m| record(m, &arn)).collect();
        let answer = function.invoke(&json!({ "Records": records }));
        let answer = answer.map_err(|error| anyhow::anyhow!("the batch failed: {error}"))?;
        let failures: Vec<String> = answer["batchItemFailures"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|failure| Some(failure["itemIdentifier"].as_str()?.to_owned()))
            .collect();
        for message in &messages {
            let id = message.message_id().unwrap_or_default();
            if failures.iter().any(|failed| failed == id) {
                continue;
            }
            let receipt = message.receipt_handle().unwrap_or_default();
            let delete = self.sqs.delete_message().queue_url(url);
            delete.receipt_handle(receipt).send().await?;
        }
        Ok((messages.len(), failures))
    }
}

async fn queue(sqs: &aws_sdk_sqs::Client, name: &str) -> Result<String> {
    let made = sqs.create_queue().queue_name(name).send().await?;
    made.queue_url.context("a queue has a URL")
}

/// The ARN of a queue.
///
/// # Errors
///
/// The emulator refuses.
pub async fn arn(sqs: &aws_sdk_sqs::Client, url: &str) -> Result<String> {
    let asked = sqs
        .get_queue_attributes()
        .queue_url(url)
        .attribute_names(QueueAttributeName::QueueArn)
        .send()
        .await?;
    let arn = asked
        .attributes()
        .and_then(|all| all.get(&QueueAttributeName::QueueArn));
    Ok(arn.context("a queue has an ARN")?.clone())
}

/// A received message as Lambda hands it to a function.
#[must_use]
pub fn record(message: &aws_sdk_sqs::types::Message, arn: &str) -> Value {
    let attributes: Map<String, Value> = message
        .attributes()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str().to_owned(), value.as_str().into()))
        .collect();
    let message_attributes: Map<String, Value> = message
        .message_attributes()
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let value = json!({
                "dataType": value.data_type(), "stringValue": value.string_value(),
                "stringListValues": [], "binaryListValues": [],
            });
            (name.clone(), value)
        })
        .collect();
    json!({
        "messageId": message.message_id(),
        "receiptHandle": message.receipt_handle(),
        "body": message.body(),
        "attributes": attributes,
        "messageAttributes": message_attributes,
        "md5OfBody": message.md5_of_body(),
        "eventSource": "aws:sqs",
        "eventSourceARN": arn,
        "awsRegion": "us-east-1",
    })
}
