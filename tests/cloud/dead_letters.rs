//! Messages that nobody could handle: put aside by the queue, kept, and sent again when the cause is mended.

use anyhow::{Result, ensure};
use dormouse_tests::cloud::Cloud;
use dormouse_tests::primitives::{event, sequence, write};
use dormouse_tests::workflow;
use serde_json::json;

use super::mailbox::{delete, put_event, queue_arn, receive};

/// The table falls silent while an event is on its way. Its message fails until the queue puts it aside; when the
/// table is back and the message is redriven, the workflow goes on as if nothing had been.
pub(super) fn what_failed_is_redriven(cloud: &Cloud) -> Result<()> {
    let queue = cloud.output("ResumeQueueUrl");
    let dead = cloud.output("ResumeDeadLettersUrl");
    cloud.publish(workflow("patient", sequence([event("Mended"), write("on")])).json())?;
    let id = cloud.start("patient", &json!({}))?;
    cloud.until_is(&id, "Suspended")?;
    // As deployed a message is tried ten times, an hour long. Here twice, and at once.
    set(cloud, 2, 1)?;
    cloud.recorder.silence(Some("dynamodb"));
    put_event(cloud, "Mended", &json!({}))?;
    let letter = cloud.until("a message is put aside", || receive(cloud, dead));
    cloud.recorder.silence(None);
    set(cloud, 10, 360)?;
    let letter = letter?;
    ensure!(cloud.instance(&id)?["subStatus"] == "Suspended");

    // What `aws sqs start-message-move-task` does; the emulator does not know it.
    let again = json!({ "QueueUrl": queue, "MessageBody": letter["Body"] });
    cloud.call("AmazonSQS.SendMessage", &again)?;
    delete(cloud, dead, &letter)?;
    cloud.until_is(&id, "Finished")?;
    Ok(())
}

/// Sets how often a message is tried, and how long it is hidden after a try that failed.
fn set(cloud: &Cloud, attempts: u32, hidden_s: u32) -> Result<()> {
    let dead = queue_arn(cloud, cloud.output("ResumeDeadLettersUrl"))?;
    let redrive = json!({ "deadLetterTargetArn": dead, "maxReceiveCount": attempts });
    let attributes = json!({
        "RedrivePolicy": redrive.to_string(), "VisibilityTimeout": hidden_s.to_string(),
    });
    let request = json!({ "QueueUrl": cloud.output("ResumeQueueUrl"), "Attributes": attributes });
    cloud.call("AmazonSQS.SetQueueAttributes", &request)?;
    Ok(())
}
