//! Start-up time of the Lambda functions, and the cost of a warm one: the release binaries behind a Runtime API, over a
//! DynamoDB-compatible table in this process.
//!
//! `cargo build --release --workspace --bins && cargo bench -p dormouse-api --bench functions`, or, with the binaries that
//! are deployed, `DORMOUSE_FUNCTIONS=FOLDER cargo bench …`, where the folder has `dormouse-api/bootstrap` and so on.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench prints what it measures, and fails by panicking"
)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use dormouse_aws::dynamo_table::DynamoTable;
use dormouse_tests::dynoxide::Dynoxide;
use dormouse_tests::lambda::Lambda;
use serde_json::{Value, json};

/// Number of starts of each function.
const STARTS: usize = 30;

/// Number of warm invocations to measure.
const WARM: usize = 1_000;

fn binary(name: &str) -> PathBuf {
    dormouse_tests::lambda::binary(name, env!("CARGO_BIN_EXE_dormouse-api"))
}

fn request(method: &str, path: &str, body: &Value) -> Value {
    json!({
        "version": "2.0", "rawPath": path, "rawQueryString": "", "headers": {},
        "requestContext": { "http": { "method": method }, "stage": "$default" },
        "body": body.to_string(), "isBase64Encoded": false,
    })
}

fn batch(message: &Value) -> Value {
    json!({ "Records": [{ "messageId": "m", "body": message.to_string() }] })
}

/// The first event of each function, the cheapest that it does something for.
fn first(name: &str) -> Value {
    let clean = json!({ "id": "m", "tenant": "default", "task": { "do": "cleanDeleted", "instance": "x" } });
    let change = json!({ "tenant": "default", "definitionId": "flow" });
    match name {
        "api" => request("GET", "/health/ready", &Value::Null),
        "invalidation" => batch(&change),
        _ => batch(&clean),
    }
}

fn quantile(times: &mut [Duration], q: usize) -> f64 {
    times.sort();
    let place = (times.len() * q / 100).min(times.len() - 1);
    times[place].as_secs_f64() * 1_000.0
}

/// The processor time that a process has used, as the system counts it, in ticks of 10 ms.
fn processor_ms(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse().ok())
        .collect();
    fields.iter().sum::<f64>() * 10.0
}

fn main() {
    let server = Dynoxide::start().unwrap();
    let table = DynamoTable::new(&server.config(), "dormouse-bench");
    let threads = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    threads.block_on(table.create_table()).unwrap();
    let variables = [
        ("AWS_ENDPOINT_URL", server.endpoint()),
        ("DORMOUSE_TABLE", "dormouse-bench"),
        ("DORMOUSE_RESUME_QUEUE_URL", "http://127.0.0.1:9/0/resume"),
        ("DORMOUSE_TIMER_QUEUE_URL", "http://127.0.0.1:9/0/timer"),
        ("DORMOUSE_TIMER_QUEUE_ARN", "arn:aws:sqs:us-east-1:0:timer"),
        ("DORMOUSE_SCHEDULE_GROUP", "dormouse-bench"),
        ("DORMOUSE_SCHEDULE_ROLE_ARN", "arn:aws:iam::0:role/bench"),
        ("DORMOUSE_AUTHENTICATION", "none"),
        ("DORMOUSE_LOG", "warn"),
    ];
    println!("function      | size MB | begun ms p50 / p90 | first answer ms p50 / p90");
    for name in ["api", "resume", "timer", "invalidation"] {
        let path = binary(name);
        let (mut begun, mut answered) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let start = Instant::now();
            let function = Lambda::start(&path, &variables);
            begun.push(function.ready_after());
            function.invoke(&first(name)).unwrap();
            answered.push(start.elapsed());
        }
        let megabytes = path.metadata().unwrap().len() as f64 / 1e6;
        println!(
            "{name:13} | {megabytes:7.1} | {:8.1} / {:7.1} | {:8.1} / {:.1}",
            quantile(&mut begun, 50),
            quantile(&mut begun, 90),
            quantile(&mut answered, 50),
            quantile(&mut answered, 90),
        );
    }
    warm(&variables);
}

/// Starts instances that wait for an event, and resumes each by message.
fn warm(variables: &[(&str, &str)]) {
    let api = Lambda::start(&binary("api"), variables);
    let literal = |text: &str| json!({ "typeName": "String", "expression": { "type": "Literal", "value": text } });
    let model = json!({
        "definitionId": "flow", "name": "flow", "toolVersion": "3.6.0.0",
        "root": { "type": "Elsa.Sequence", "id": "root", "activities": [
            { "type": "Elsa.Event", "id": "go", "eventName": literal("Go") },
            { "type": "Elsa.WriteLine", "id": "bye", "text": literal("bye") },
        ] },
    });
    let publish = json!({ "model": model, "publish": true });
    let published = api.invoke(&request("POST", "/elsa/api/workflow-definitions", &publish));
    assert_eq!(published.unwrap()["statusCode"], 200);
    let start = request(
        "POST",
        "/elsa/api/workflow-starts",
        &json!({ "definitionId": "flow" }),
    );
    let mut messages = Vec::new();
    let (mut times, used) = (Vec::new(), processor_ms(api.process_id()));
    for _ in 0..WARM {
        let begin = Instant::now();
        let answer = api.invoke(&start).unwrap();
        times.push(begin.elapsed());
        assert_eq!(answer["statusCode"], 201, "{answer}");
        let body: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
        messages.push(json!({
            "id": "m", "tenant": "default",
            "task": { "do": "resume", "instance": body["id"], "bookmark": body["bookmarks"][0]["id"], "input": {} },
        }));
    }
    report("start", &mut times, processor_ms(api.process_id()) - used);
    let resume = Lambda::start(&binary("resume"), variables);
    resume.invoke(&batch(&messages[0])).unwrap();
    let (mut times, used) = (Vec::new(), processor_ms(resume.process_id()));
    for message in &messages[1..] {
        let begin = Instant::now();
        let answer = resume.invoke(&batch(message)).unwrap();
        times.push(begin.elapsed());
        assert_eq!(answer, json!({ "batchItemFailures": [] }));
    }
    report(
        "resume",
        &mut times,
        processor_ms(resume.process_id()) - used,
    );
}

fn report(what: &str, times: &mut [Duration], processor_ms: f64) {
    println!(
        "warm {what}: {:.2} ms p50, {:.2} ms p99, of which {:.2} ms of its own processor time",
        quantile(times, 50),
        quantile(times, 99),
        processor_ms / times.len() as f64,
    );
}
