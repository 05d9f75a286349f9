//! Task requests and lives of instances that leave as webhooks, over the real network of this machine.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use dormouse_tests::lambda::Lambda;
use dormouse_tests::receiver::{Receiver, SECRET};
use serde_json::{Value, json};

use super::stage::{Stage, binary, literal, sequence, write};

/// This machine, which no workflow and no webhook reaches unless it is allowed.
const HERE: (&str, &str) = ("DORMOUSE_ALLOW_EGRESS", "10.1.0.0/16,127.0.0.0/8");

async fn stage(receiver: &Receiver, more: &[(&'static str, &str)]) -> Result<Option<Stage>> {
    let url = receiver.url();
    let variables = [
        ("DORMOUSE_WEBHOOK_URL", url.as_str()),
        ("DORMOUSE_WEBHOOK_SECRET", SECRET),
    ];
    Stage::set_with(&[&variables, more].concat()).await
}

fn publish_task(stage: &Stage) {
    let task =
        json!({ "type": "Elsa.RunTask", "id": "ask", "taskName": literal("String", "Approve") });
    stage.publish(&sequence("flow", &[task, write("bye")]));
}

/// Sweeps until a receiver has so many messages.
fn sweep_until(stage: &Stage, receiver: &Receiver, count: usize) {
    let until = Instant::now() + Duration::from_secs(60);
    let timer = stage.function("timer");
    while receiver.received().len() < count {
        let report = timer.invoke(&json!({ "source": "dormouse.sweep" }));
        let log = || timer.log();
        assert!(
            report.is_ok() && Instant::now() < until,
            "{report:?}\n{}",
            log()
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// What the bus was told, by id; how often each.
async fn told(stage: &Stage, heard: &str) -> Result<BTreeMap<String, usize>> {
    let mut ids = BTreeMap::new();
    loop {
        let messages = stage.deployment.receive(heard, 1).await?;
        if messages.is_empty() {
            return Ok(ids);
        }
        for message in messages {
            let event: Value = serde_json::from_str(message.body().unwrap())?;
            let id = event["detail"]["id"].as_str().unwrap().to_owned();
            *ids.entry(id).or_insert(0) += 1;
        }
    }
}

#[tokio::test]
async fn a_task_request_is_a_signed_webhook_once_and_goes_to_the_bus_as_well() -> Result<()> {
    let receiver = Receiver::refusing(0);
    let Some(stage) = stage(&receiver, &[HERE]).await? else {
        return Ok(());
    };
    let heard = &stage.deployment.changes_url;
    let own = json!({ "source": ["dormouse"] });
    stage.deployment.route("own", &own, heard).await?;
    publish_task(&stage);
    // The queue also has the news of the publish.
    stage.deployment.receive(heard, 5).await?;
    let id = stage.start("flow");
    let received = receiver.received();
    assert_eq!(received.len(), 1, "{received:?}");
    let said = received[0].json();
    assert_eq!(said["type"], "RunTask");
    assert_eq!(said["data"]["taskName"], "Approve");
    assert_eq!(said["data"]["workflowInstanceId"], json!(id));
    let told = told(&stage, heard).await?;
    let both = BTreeMap::from([(received[0].signed_id().to_owned(), 1)]);
    assert_eq!(told, both);
    let task = said["data"]["taskId"].as_str().unwrap();
    let path = format!("/elsa/api/tasks/{task}/complete");
    let done = stage.ask("POST", &path, Some(&json!({ "result": "yes" })));
    assert_eq!(done.status, 200, "{:#}", done.body);
    assert_eq!(stage.sub_status(&id), "Finished");
    for _ in 0..2 {
        let swept = stage
            .function("timer")
            .invoke(&json!({ "source": "dormouse.sweep" }));
        assert_eq!(swept.unwrap()["left"], 0);
    }
    assert_eq!(receiver.received().len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_webhook_that_was_answered_with_500_comes_again_under_its_id() -> Result<()> {
    let receiver = Receiver::refusing(2);
    let Some(stage) = stage(&receiver, &[HERE]).await? else {
        return Ok(());
    };
    publish_task(&stage);
    let id = stage.start("flow");
    assert_eq!(stage.sub_status(&id), "Suspended");
    assert_eq!(receiver.received().len(), 1);
    sweep_until(&stage, &receiver, 3);
    let received = receiver.received();
    let first = &received[0];
    for again in &received[1..] {
        assert_eq!(again.signed_id(), first.signed_id());
        assert_eq!(again.body, first.body);
    }
    assert_eq!(stage.dead_letters().len(), 0);
    Ok(())
}

#[tokio::test]
async fn lives_of_instances_are_told_to_a_webhook_that_wants_to_hear_of_them() -> Result<()> {
    let receiver = Receiver::refusing(0);
    let lifecycle = ("DORMOUSE_WEBHOOK_LIFECYCLE", "true");
    let Some(stage) = stage(&receiver, &[HERE, lifecycle]).await? else {
        return Ok(());
    };
    publish_task(&stage);
    stage.start("flow");
    let received = receiver.received();
    let kinds = received.iter().map(|message| message.json());
    let mut kinds: Vec<_> = kinds.map(|said| said["type"].clone()).collect();
    kinds.sort_by_key(Value::to_string);
    assert_eq!(kinds, ["InstanceStarted", "InstanceSuspended", "RunTask"]);
    Ok(())
}

#[tokio::test]
async fn a_webhook_inside_is_not_reached_unless_its_network_is_allowed() -> Result<()> {
    let receiver = Receiver::refusing(0);
    let Some(stage) = stage(&receiver, &[("DORMOUSE_ALLOW_EGRESS", "10.1.0.0/16")]).await? else {
        return Ok(());
    };
    publish_task(&stage);
    let id = stage.start("flow");
    assert_eq!(stage.sub_status(&id), "Suspended");
    assert_eq!(receiver.received().len(), 0);
    let log = stage.function("api").log();
    assert!(log.contains("not a public address"), "{log}");
    Ok(())
}

#[test]
fn what_is_wrong_with_a_webhook_or_a_network_is_said_at_the_start() {
    let named = [
        ("DORMOUSE_TABLE", "t"),
        ("DORMOUSE_RESUME_QUEUE_URL", "http://127.0.0.1:9/r"),
        ("DORMOUSE_TIMER_QUEUE_URL", "http://127.0.0.1:9/t"),
        ("DORMOUSE_TIMER_QUEUE_ARN", "arn:aws:sqs:us-east-1:1:t"),
        ("DORMOUSE_SCHEDULE_GROUP", "g"),
        ("DORMOUSE_SCHEDULE_ROLE_ARN", "arn:aws:iam::1:role/r"),
        ("DORMOUSE_AUTHENTICATION", "none"),
    ];
    let url = ("DORMOUSE_WEBHOOK_URL", "https://hooks.example");
    for (wrong, lacks) in [
        (&[url][..], "there is no secret to sign them with"),
        (
            &[url, ("DORMOUSE_WEBHOOK_SECRET", "whsec_***")][..],
            "DORMOUSE_WEBHOOK_SECRET",
        ),
        (
            &[
                ("DORMOUSE_WEBHOOK_URL", "hooks.example"),
                ("DORMOUSE_WEBHOOK_SECRET", SECRET),
            ][..],
            "`hooks.example` is none",
        ),
        (
            &[("DORMOUSE_WEBHOOK_LIFECYCLE", "true")][..],
            "DORMOUSE_WEBHOOK_URL is not set",
        ),
        (
            &[("DORMOUSE_ALLOW_EGRESS", "10.1.0.0/16,10.2/16")][..],
            "`10.2/16` is none",
        ),
    ] {
        let function = Lambda::start(&binary("api"), &[&named, wrong].concat());
        let error = function.init_error();
        let said = error["errorMessage"].as_str().unwrap_or_default();
        assert!(said.contains(lacks), "{wrong:?}: {error}");
        assert!(!said.contains("whsec_*"), "{error}");
        assert!(!function.ended().success(), "{wrong:?}");
    }
}
