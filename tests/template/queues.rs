//! The queues: nothing is lost in them, and a slow attempt is not overtaken.

use std::collections::BTreeSet;

use dormouse_tests::template::Template;
use serde_json::{Value, json};

/// The queue that a reference means.
fn target(reference: &Value) -> &str {
    let arn = reference["Fn::GetAtt"].as_str().expect("a queue's ARN");
    arn.strip_suffix(".Arn").expect("a queue's ARN")
}

/// The event source of a function that reads a queue.
fn source(function: &Value) -> Option<&Value> {
    let events = function["Events"].as_object()?;
    assert_eq!(events.len(), 1);
    events.values().map(|event| &event["Properties"]).next()
}

#[test]
fn a_message_is_hidden_for_six_times_what_its_function_may_take() {
    let template = Template::read();
    let mut read = 0;
    for (name, function) in template.of_type("AWS::Serverless::Function") {
        let Some(source) = source(function) else {
            continue;
        };
        let queue = template.properties(target(&source["Queue"]));
        let hidden_s = queue["VisibilityTimeout"].as_i64().expect("seconds");
        let function_s = function["Timeout"].as_i64().expect("seconds");
        assert!(
            hidden_s >= 6 * function_s,
            "{name}: {hidden_s} s for {function_s} s"
        );
        read += 1;
    }
    assert_eq!(read, 3);
}

#[test]
fn one_bad_message_does_not_fail_its_batch() {
    let template = Template::read();
    for (name, function) in template.of_type("AWS::Serverless::Function") {
        let Some(source) = source(function) else {
            continue;
        };
        assert_eq!(
            source["FunctionResponseTypes"],
            json!(["ReportBatchItemFailures"]),
            "{name}"
        );
        assert!(source["BatchSize"].as_i64() <= Some(10), "{name}");
        // Without it the poller hands on more than Lambda takes, and what is turned away counts as an attempt.
        assert!(
            !source["ScalingConfig"]["MaximumConcurrency"].is_null(),
            "{name}"
        );
    }
}

#[test]
fn every_queue_has_one_for_its_dead_letters_which_keeps_them_longer() {
    let template = Template::read();
    let queues = template.of_type("AWS::SQS::Queue");
    let dead: BTreeSet<&str> = queues
        .values()
        .filter(|queue| !queue["RedrivePolicy"].is_null())
        .map(|queue| target(&queue["RedrivePolicy"]["deadLetterTargetArn"]))
        .collect();
    for (name, queue) in &queues {
        assert_eq!(queue["SqsManagedSseEnabled"], true, "{name}");
        let policy = &queue["RedrivePolicy"];
        if policy.is_null() {
            assert!(dead.contains(name) || *name == "UndeliveredQueue", "{name}");
            continue;
        }
        let attempts = policy["maxReceiveCount"].as_i64().expect("attempts");
        assert!(attempts >= 5, "{name}: {attempts}");
        let kept = |queue: &Value| queue["MessageRetentionPeriod"].as_i64().expect("seconds");
        let letters = queues[target(&policy["deadLetterTargetArn"])];
        assert!(kept(letters) > kept(queue), "{name}");
    }
    assert_eq!(queues.len() - dead.len(), 4);
}

#[test]
fn what_cannot_be_handed_over_is_kept() {
    let template = Template::read();
    let kept = json!({ "Fn::GetAtt": "UndeliveredQueue.Arn" });
    let rule = &template.properties("EventRule")["Targets"][0];
    assert_eq!(rule["DeadLetterConfig"]["Arn"], kept);
    let subscription = template.properties("InvalidationSubscription");
    assert_eq!(subscription["RedrivePolicy"]["deadLetterTargetArn"], kept);
    let variables = &template.globals()["Environment"]["Variables"];
    assert_eq!(variables["DORMOUSE_SCHEDULE_DLQ_ARN"], kept);
}

#[test]
fn every_queue_of_dead_letters_is_watched() {
    let template = Template::read();
    let alarm = template.properties("DeadLetterQueuesAlarm").to_string();
    let dashboard = template.properties("Dashboard").to_string();
    for name in [
        "ResumeDeadLetters",
        "TimerDeadLetters",
        "InvalidationDeadLetters",
        "UndeliveredQueue",
    ] {
        assert!(alarm.contains(&format!("{name}.QueueName")), "{name}");
        assert!(dashboard.contains(&format!("{name}.QueueName")), "{name}");
    }
}
