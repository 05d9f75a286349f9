//! Messages that are too large for a queue or an event: they lie in the bucket.

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use dormouse_aws::eventbridge_bus::EventBridgeBus;
use dormouse_aws::large_message::LargeMessages;
use dormouse_aws::s3_blobs::{MESSAGES, S3Blobs};
use dormouse_aws::sqs_queue::SqsQueue;
use dormouse_embedded::SystemClock;
use dormouse_runtime::message::{StartFacts, Task};
use dormouse_runtime::port::{Bus as _, PortError, Queue as _, TaskRequest};
use dormouse_runtime::{DefinitionHandle, Message, Tenant};
use dormouse_store::table::blobs::Blobs as _;
use dormouse_tests::deployment::Deployment;
use dormouse_tests::template::Template;
use serde_json::{Map, Value, json};

fn plain(error: PortError) -> anyhow::Error {
    anyhow!(error)
}

/// A start with an input of so many bytes.
fn start(bytes: usize) -> Result<Message> {
    let start = StartFacts {
        input: Map::from_iter([("Text".to_owned(), "x".repeat(bytes).into())]),
        ..StartFacts::default()
    };
    let task = Task::Start {
        instance: "i".into(),
        definition: DefinitionHandle::published("large"),
        start,
    };
    Ok(Message::new("m/1", Tenant::new("acme")?, task))
}

fn bucket(deployment: &Deployment) -> S3Blobs {
    S3Blobs::new(&deployment.config, &deployment.name)
}

/// The text of the one message of a queue.
async fn received(deployment: &Deployment, url: &str) -> Result<String> {
    let received = deployment.receive(url, 20).await?;
    let [one] = received.as_slice() else {
        return Err(anyhow!("one message: {received:?}"));
    };
    Ok(one.body().context("a body")?.to_owned())
}

#[tokio::test]
async fn a_message_that_no_queue_takes_lies_in_the_bucket() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let url = &deployment.resume_url;
    let queue = SqsQueue::new(&deployment.config, Arc::new(SystemClock), url);
    let message = start(1_200_000)?;
    assert!(queue.send(&message, 0).await.is_err(), "SQS takes 1 MiB");
    let queue = queue.with_large(LargeMessages::new(Some(bucket(&deployment))));
    queue.send(&message, 0).await.map_err(plain)?;
    let claim: Value = serde_json::from_str(&received(&deployment, url).await?)?;
    assert_eq!(claim["id"], "m/1");
    let name = claim["liesAt"].as_str().context("a name")?;
    assert!(name.starts_with(&format!("{MESSAGES}acme/")), "{name}");
    let kept = bucket(&deployment).get(name).await.map_err(plain)?;
    assert_eq!(Message::decode(&kept.context("it is there")?)?, message);
    Ok(())
}

#[tokio::test]
async fn a_message_that_a_queue_takes_lies_nowhere_else() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let url = &deployment.resume_url;
    let queue = SqsQueue::new(&deployment.config, Arc::new(SystemClock), url);
    // There is no such bucket, so using it would fail.
    let nowhere = S3Blobs::new(&deployment.config, "no-such-bucket");
    let queue = queue.with_large(LargeMessages::new(Some(nowhere)));
    let message = start(250_000)?;
    queue.send(&message, 0).await.map_err(plain)?;
    let text = received(&deployment, url).await?;
    assert_eq!(Message::decode(text.as_bytes())?, message);
    assert!(queue.send(&start(300_000)?, 0).await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_payload_that_no_event_takes_is_named_by_its_place() -> Result<()> {
    let Some(deployment) = Deployment::make().await? else {
        return Ok(());
    };
    let own = json!({ "source": ["dormouse"] });
    deployment
        .route("own", &own, &deployment.resume_url)
        .await?;
    let bus = EventBridgeBus::new(&deployment.config, &deployment.name, false);
    let bus = bus.with_large(LargeMessages::new(Some(bucket(&deployment))));
    let request = TaskRequest {
        id: "i/1/0".into(),
        tenant_id: "acme".into(),
        workflow_instance_id: "i".into(),
        workflow_definition_id: "d".into(),
        workflow_name: None,
        correlation_id: None,
        task_id: "t".into(),
        task_name: "Ship".into(),
        task_payload: json!({ "text": "x".repeat(2_000_000) }),
    };
    bus.request_task(&request).await.map_err(plain)?;
    let event: Value = serde_json::from_str(&received(&deployment, &deployment.resume_url).await?)?;
    let detail = &event["detail"];
    assert_eq!(detail["taskId"], "t");
    assert_eq!(detail["taskPayload"], Value::Null);
    let place = detail["taskPayloadAt"].as_str().context("a place")?;
    let prefix = format!("s3://{}/", deployment.name);
    let name = place.strip_prefix(&prefix).context("in the bucket")?;
    let kept = bucket(&deployment).get(name).await.map_err(plain)?;
    let kept: Value = serde_json::from_slice(&kept.context("it is there")?)?;
    assert_eq!(kept, request.task_payload);
    Ok(())
}

#[test]
fn the_bucket_keeps_messages_longer_than_queues_and_their_dead_letters_do() {
    let template = Template::read();
    let rules = &template.properties("Bucket")["LifecycleConfiguration"]["Rules"];
    let of_messages = |rule: &&Value| rule["Prefix"] == MESSAGES;
    let rules = rules.as_array().expect("rules");
    let rule = rules.iter().find(of_messages).expect("a rule for messages");
    let days = rule["ExpirationInDays"].as_u64().expect("days");
    let longest = |name: &str| {
        let kept = &template.properties(name)["MessageRetentionPeriod"];
        kept.as_u64().expect("seconds")
    };
    let kept_s = longest("ResumeQueue") + longest("ResumeDeadLetters");
    assert!(days * 86_400 > kept_s, "{days} days, {kept_s} s");
}
