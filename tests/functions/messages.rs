//! The function `resume`: batches of the resume queue.

use anyhow::Result;
use dormouse_runtime::message::{StartFacts, Task};
use dormouse_runtime::{DefinitionHandle, Message, Tenant};
use dormouse_tests::deployment::{arn, record};
use serde_json::{Value, json};

use super::stage::{Stage, event, literal, sequence, write};

fn records(bodies: &[&str]) -> Value {
    let records = bodies.iter().enumerate().map(|(n, body)| {
        json!({
            "messageId": format!("m-{n}"), "receiptHandle": "r", "body": body,
            "attributes": { "ApproximateReceiveCount": "1", "SentTimestamp": "1545082649183" },
            "messageAttributes": {}, "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:elsewhere", "awsRegion": "us-east-1",
        })
    });
    json!({ "Records": records.collect::<Vec<_>>() })
}

fn text(task: Task, hops: u32) -> String {
    let message = Message {
        hops,
        ..Message::new("m", Tenant::default(), task)
    };
    String::from_utf8(message.encode().unwrap().to_vec()).unwrap()
}

fn trigger(stage: &Stage, name: &str) {
    let path = format!("/elsa/api/events/{name}/trigger");
    let answer = stage.ask("POST", &path, Some(&json!({})));
    assert!(answer.status < 300, "{:#}", answer.body);
}

#[tokio::test]
async fn an_event_resumes_by_message_and_a_second_delivery_changes_nothing() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let mut again = event("Go");
    again["id"] = json!("again");
    stage.publish(&sequence("flow", &[event("Go"), again, write("bye")]));
    let id = stage.start("flow");
    trigger(&stage, "Go");
    let (url, resume) = (&stage.deployment.resume_url, stage.function("resume"));
    let mut received = Vec::new();
    while received.is_empty() {
        received = stage.deployment.receive(url, 20).await?;
    }
    let queue = arn(&stage.deployment.sqs, url).await?;
    let one = record(&received[0], &queue);
    // Twice in one batch, and once more after it: it is waited for twice, and counts once.
    for batch in [vec![one.clone(), one.clone()], vec![one.clone()]] {
        let answer = resume.invoke(&json!({ "Records": batch })).unwrap();
        assert_eq!(
            answer,
            json!({ "batchItemFailures": [] }),
            "{}",
            resume.log()
        );
    }
    assert_eq!(stage.sub_status(&id), "Suspended");
    let receipt = received[0].receipt_handle().unwrap_or_default();
    let delete = stage.deployment.sqs.delete_message().queue_url(url);
    delete.receipt_handle(receipt).send().await?;
    trigger(&stage, "Go");
    stage.resume_until(&id, "Finished").await
}

/// The instance takes the length of what the event brought for its name.
#[tokio::test]
async fn an_event_that_is_too_large_for_a_queue_arrives_whole() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let length = json!({ "type": "JavaScript", "value": "String(getLastResult().length)" });
    let measured = json!({
        "type": "Elsa.SetName", "id": "measured",
        "value": { "typeName": "String", "expression": length },
    });
    stage.publish(&sequence("flow", &[event("Go"), measured]));
    let id = stage.start("flow");
    let body = json!({ "input": "x".repeat(1_500_000) });
    let answer = stage.ask("POST", "/elsa/api/events/Go/trigger", Some(&body));
    assert!(answer.status < 300, "{:#}", answer.body);
    stage.resume_until(&id, "Finished").await?;
    let path = format!("/elsa/api/workflow-instances/{id}");
    assert_eq!(stage.ask("GET", &path, None).body["name"], "1500000");

    // What claims a place where nothing lies is for people.
    let claim = json!({ "id": "m", "liesAt": "!messages/default/0" }).to_string();
    let answer = stage
        .function("resume")
        .invoke(&records(&[&claim]))
        .unwrap();
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    assert_eq!(stage.dead_letters().len(), 1);
    Ok(())
}

#[tokio::test]
async fn of_a_batch_only_what_fails_comes_again() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let cancel = text(
        Task::Cancel {
            instance: "never-started".into(),
        },
        0,
    );
    let done = text(
        Task::CleanDeleted {
            instance: "nothing".into(),
        },
        0,
    );
    let batch = records(&[&done, &cancel, "not even json", &done]);
    let answer = stage.function("resume").invoke(&batch).unwrap();
    // The start of what is to be cancelled may still be on its way. What nobody can read is a dead letter.
    assert_eq!(
        answer,
        json!({ "batchItemFailures": [{ "itemIdentifier": "m-1" }] })
    );
    let letters = stage.dead_letters();
    assert_eq!(letters.len(), 1, "{letters:?}");
    Ok(())
}

#[tokio::test]
async fn what_fails_again_and_again_becomes_a_dead_letter() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let cancel = text(
        Task::Cancel {
            instance: "never-started".into(),
        },
        0,
    );
    let mut batch = records(&[&cancel]);
    let resume = stage.function("resume");
    for (receives, comes_again) in [("9", true), ("10", false)] {
        batch["Records"][0]["attributes"]["ApproximateReceiveCount"] = json!(receives);
        let answer = resume.invoke(&batch).unwrap();
        let again = !answer["batchItemFailures"].as_array().unwrap().is_empty();
        assert_eq!(again, comes_again, "{receives}");
        assert_eq!(stage.dead_letters().len(), usize::from(!comes_again));
    }
    Ok(())
}

#[tokio::test]
async fn a_chain_beyond_the_hop_budget_becomes_a_dead_letter() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let task = || Task::CleanDeleted {
        instance: "x".into(),
    };
    let resume = stage.function("resume");
    let within = resume.invoke(&records(&[&text(task(), 1_000)])).unwrap();
    assert_eq!(within, json!({ "batchItemFailures": [] }));
    assert_eq!(stage.dead_letters().len(), 0);
    let beyond = resume.invoke(&records(&[&text(task(), 1_001)])).unwrap();
    assert_eq!(beyond, json!({ "batchItemFailures": [] }));
    assert_eq!(stage.dead_letters().len(), 1);
    assert!(resume.log().contains("hop budget"), "{}", resume.log());
    Ok(())
}

#[tokio::test]
async fn a_message_that_must_wait_is_sent_on_with_the_rest() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let mut batch = records(&[&text(
        Task::CleanDeleted {
            instance: "x".into(),
        },
        0,
    )]);
    let attribute = json!({ "dataType": "Number", "stringValue": "4102444800000" });
    batch["Records"][0]["messageAttributes"] = json!({ "notBefore": attribute });
    let answer = stage.function("resume").invoke(&batch).unwrap();
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    use aws_sdk_sqs::types::QueueAttributeName as Name;
    let asked = stage
        .deployment
        .sqs
        .get_queue_attributes()
        .queue_url(&stage.deployment.resume_url)
        .attribute_names(Name::All)
        .send()
        .await?;
    let delayed = asked.attributes().unwrap()[&Name::ApproximateNumberOfMessagesDelayed].clone();
    assert_eq!(delayed, "1");
    Ok(())
}

#[tokio::test]
async fn a_deadline_that_comes_too_early_leaves_the_rest_to_others() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let call = json!({ "type": "Elsa.SendHttpRequest", "id": "call", "url": literal("Uri", "http://127.0.0.1:9/") });
    stage.publish(&sequence("flow", &[event("Go"), call, write("bye")]));
    let id = stage.start("flow");
    trigger(&stage, "Go");
    let (url, resume) = (&stage.deployment.resume_url, stage.function("resume"));
    let mut received = Vec::new();
    while received.is_empty() {
        received = stage.deployment.receive(url, 20).await?;
    }
    let queue = arn(&stage.deployment.sqs, url).await?;
    let batch = json!({ "Records": [record(&received[0], &queue)] });
    // Nothing is begun when the time is over already, and nothing is lost.
    let answer = resume.invoke_within(&batch, -1_000).unwrap();
    assert_eq!(answer["batchItemFailures"].as_array().unwrap().len(), 1);
    assert_eq!(stage.sub_status(&id), "Suspended");
    let answer = resume.invoke(&batch).unwrap();
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    assert_eq!(stage.sub_status(&id), "Faulted");
    Ok(())
}

#[tokio::test]
async fn what_is_no_batch_is_an_error_or_a_dead_letter() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let resume = stage.function("resume");
    let s3 = json!({ "Records": [{ "eventSource": "aws:s3", "s3": {} }] });
    assert!(resume.invoke(&s3).is_err());
    assert!(resume.invoke(&json!({ "Records": 7 })).is_err());
    assert_eq!(stage.dead_letters().len(), 0);
    // One that comes alone cannot be sent back, and must not go round.
    assert_eq!(
        resume.invoke(&json!({ "hello": "world" })).unwrap(),
        Value::Null
    );
    assert_eq!(stage.dead_letters().len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_message_that_comes_in_a_pause_is_put_back_and_done_after_it() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    stage.publish(&sequence("flow", &[write("bye")]));
    let runtime = |what: &str| {
        let path = format!("/elsa/api/admin/workflow-runtime/{what}");
        let answer = stage.ask("POST", &path, Some(&json!({})));
        assert_eq!(answer.status, 200, "{:#}", answer.body);
    };
    runtime("pause");
    let start = Task::Start {
        instance: "held".into(),
        definition: DefinitionHandle::published("flow"),
        start: StartFacts::default(),
    };
    let (url, resume) = (&stage.deployment.resume_url, stage.function("resume"));
    let mut batch = records(&[&text(start, 0)]);
    // Its last try: once more would make it a dead letter.
    batch["Records"][0]["attributes"]["ApproximateReceiveCount"] = "10".into();
    let answer = resume.invoke(&batch).unwrap();
    assert_eq!(
        answer,
        json!({ "batchItemFailures": [] }),
        "{}",
        resume.log()
    );
    let at = "/elsa/api/workflow-instances/held";
    assert_eq!(stage.ask("GET", at, None).status, 404);
    assert_eq!(stage.dead_letters(), Vec::<Value>::new());
    assert_eq!(stage.deployment.receive(url, 1).await?.len(), 0);

    runtime("resume");
    for _ in 0..20 {
        if stage.ask("GET", at, None).status == 200 {
            break;
        }
        stage.deployment.hand_on(url, 2, &resume).await?;
    }
    assert_eq!(stage.sub_status("held"), "Finished", "{}", resume.log());
    Ok(())
}
