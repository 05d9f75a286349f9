//! A queue of the test's own at the deployment's bus, as a worker has one for the tasks that workflows ask for.

use anyhow::{Result, ensure};
use dormouse_tests::cloud::Cloud;
use serde_json::{Value, json};

/// Receives what the bus is told by Dormouse.
pub(super) struct Mailbox<'a> {
    cloud: &'a Cloud,
    url: String,
}

impl<'a> Mailbox<'a> {
    /// Opens one for the events of a type.
    pub(super) fn open(cloud: &'a Cloud, name: &str, detail_type: &str) -> Result<Self> {
        let made = cloud.call("AmazonSQS.CreateQueue", &json!({ "QueueName": name }))?;
        let url = made["QueueUrl"].as_str().unwrap_or_default().to_owned();
        let bus = cloud.output("BusName");
        let pattern = json!({ "source": ["dormouse"], "detail-type": [detail_type] });
        let rule =
            json!({ "Name": name, "EventBusName": bus, "EventPattern": pattern.to_string() });
        cloud.call("AWSEvents.PutRule", &rule)?;
        let target = json!({ "Id": "mailbox", "Arn": queue_arn(cloud, &url)? });
        let targets = json!({ "Rule": name, "EventBusName": bus, "Targets": [target] });
        let put = cloud.call("AWSEvents.PutTargets", &targets)?;
        ensure!(put["FailedEntryCount"] == 0, "{put}");
        Ok(Self { cloud, url })
    }

    /// The detail of the next event that a test is after.
    pub(super) fn next(&self, is_meant: impl Fn(&Value) -> bool) -> Result<Value> {
        self.cloud.until("the bus is told", || {
            let Some(message) = receive(self.cloud, &self.url)? else {
                return Ok(None);
            };
            let body = message["Body"].as_str().unwrap_or_default();
            let event: Value = serde_json::from_str(body)?;
            delete(self.cloud, &self.url, &message)?;
            Ok(is_meant(&event["detail"]).then(|| event["detail"].clone()))
        })
    }
}

/// A message of a queue, if there is one within a few seconds.
pub(super) fn receive(cloud: &Cloud, url: &str) -> Result<Option<Value>> {
    let request = json!({ "QueueUrl": url, "WaitTimeSeconds": 2, "MaxNumberOfMessages": 1 });
    let received = cloud.call("AmazonSQS.ReceiveMessage", &request)?;
    let mut messages = received["Messages"].as_array().cloned().unwrap_or_default();
    Ok(messages.pop())
}

/// Removes a received message from its queue.
pub(super) fn delete(cloud: &Cloud, url: &str, message: &Value) -> Result<()> {
    let request = json!({ "QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"] });
    cloud.call("AmazonSQS.DeleteMessage", &request)?;
    Ok(())
}

/// The ARN of a queue.
pub(super) fn queue_arn(cloud: &Cloud, url: &str) -> Result<Value> {
    let request = json!({ "QueueUrl": url, "AttributeNames": ["QueueArn"] });
    let answer = cloud.call("AmazonSQS.GetQueueAttributes", &request)?;
    Ok(answer["Attributes"]["QueueArn"].clone())
}

/// Puts an event of somebody else on the deployment's bus.
pub(super) fn put_event(cloud: &Cloud, name: &str, detail: &Value) -> Result<()> {
    let entry = json!({
        "EventBusName": cloud.output("BusName"), "Source": "shop", "DetailType": name,
        "Detail": detail.to_string(),
    });
    let put = cloud.call("AWSEvents.PutEvents", &json!({ "Entries": [entry] }))?;
    ensure!(put["FailedEntryCount"] == 0, "{put}");
    Ok(())
}
