//! Events of each source with parts exchanged, cut and nested: a function answers or refuses each one, and lives.
//!
//! `DORMOUSE_FUZZ_SECONDS` says for how long each function is driven, `DORMOUSE_FUZZ_SEED` with what.

use std::time::{Duration, Instant};

use anyhow::Result;
use dormouse_runtime::message::Task;
use dormouse_runtime::{Message, Tenant};
use serde_json::{Value, json};

use super::stage::{Stage, event, request, sequence, write};

#[path = "../fuzz/mutant.rs"]
#[allow(dead_code, reason = "only JSON is changed here")]
mod mutant;

use mutant::{Chance, mutant_json};

/// How much memory a function may ever need, in MiB: half of what its template gives it.
const MEMORY_MIB: u64 = 128;

/// How long an invocation is given, in ms.
const LEFT_MS: i64 = 5_000;

fn message(task: Task) -> String {
    let message = Message::new("m", Tenant::default(), task);
    String::from_utf8(message.encode().unwrap().to_vec()).unwrap()
}

fn batch(body: &str) -> Value {
    let record = json!({
        "messageId": "19dd0b57", "receiptHandle": "MessageReceiptHandle", "body": body,
        "attributes": { "ApproximateReceiveCount": "1", "SentTimestamp": "1523232000000", "SenderId": "123456789012" },
        "messageAttributes": { "notBefore": { "stringValue": "1523232000000", "dataType": "Number" } },
        "md5OfBody": "7b270e59b47ff90a553787216d55d91d", "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:MyQueue", "awsRegion": "us-east-1",
    });
    json!({ "Records": [record] })
}

fn of_the_bus() -> Value {
    json!({
        "version": "0", "id": "6a7e8feb", "detail-type": "Go", "source": "shop", "account": "123456789012",
        "time": "2017-12-22T18:43:48Z", "region": "us-west-1", "resources": [],
        "detail": { "tenantId": "default", "correlationId": "c", "workflowInstanceId": "i", "payload": { "a": [1, "x"] } },
    })
}

/// Events as the sources of a function send them.
fn corpus(function: &str) -> Vec<Value> {
    let definition = sequence("flow", &[event("Go"), write("bye")]);
    let told = json!({ "tenant": "default", "definitionId": "flow" }).to_string();
    let envelope = json!({ "Type": "Notification", "MessageId": "22b80b92", "Message": told });
    let messages = [
        message(Task::Cancel {
            instance: "never-started".into(),
        }),
        message(Task::Resume {
            instance: "never-started".into(),
            bookmark: "b".into(),
            input: serde_json::Map::from_iter([("a".to_owned(), json!([1, null]))]),
        }),
        of_the_bus().to_string(),
    ];
    let messages = messages.iter().map(|text| batch(text));
    match function {
        "api" => {
            let mut publish = request("POST", "/elsa/api/workflow-definitions");
            publish["body"] = json!({ "model": definition, "publish": true })
                .to_string()
                .into();
            let mut page = request("GET", "/workflows/page?a=1&b=%20");
            page["cookies"] = json!(["a=1", "b=2"]);
            page["body"] = "AAH/".into();
            page["isBase64Encoded"] = true.into();
            vec![
                publish,
                page,
                request("POST", "/elsa/api/workflow-definitions/flow/execute"),
            ]
        }
        "resume" => messages.chain([of_the_bus()]).collect(),
        "timer" => {
            let tick =
                json!({ "source": "aws.events", "detail-type": "Scheduled Event", "detail": {} });
            messages
                .chain([json!({ "source": "dormouse.sweep" }), tick])
                .collect()
        }
        _ => vec![
            batch(&told),
            batch(&envelope.to_string()),
            json!({ "Records": [{ "EventSource": "aws:sns", "EventVersion": "1.0", "Sns": envelope }] }),
        ],
    }
}

/// The text of a body is JSON too, and worth changing on its own.
fn changed(chance: &mut Chance, corpus: &[Value]) -> Value {
    let mut event = mutant_json(chance, corpus);
    let inner = event
        .pointer_mut("/Records/0/body")
        .filter(|_| chance.one_in(2));
    if let Some(body) = inner
        && let Some(parsed) = body
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok())
    {
        *body = mutant_json(chance, &[parsed]).to_string().into();
    }
    event
}

fn peak_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1_024
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[tokio::test]
async fn a_function_survives_whatever_it_is_sent() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    let seconds = number("DORMOUSE_FUZZ_SECONDS").unwrap_or(3);
    let seed = number("DORMOUSE_FUZZ_SEED").unwrap_or_else(|| std::process::id().into());
    let mut chance = Chance(seed);
    for name in ["api", "resume", "timer", "invalidation"] {
        let (function, corpus) = (stage.function(name), corpus(name));
        let begin = Instant::now();
        let mut waiting = corpus.clone().into_iter();
        let mut count = 0;
        loop {
            let event = match waiting.next() {
                Some(event) => event,
                None if begin.elapsed() >= Duration::from_secs(seconds) => break,
                None => changed(&mut chance, &corpus),
            };
            // It either answers or says why not. One that ends fails in here.
            if let Err(refused) = function.invoke_within(&event, LEFT_MS) {
                let text = refused.to_string();
                assert!(!text.contains("panic"), "seed {seed}: {text} at {event}");
            }
            count += 1;
        }
        let peak = peak_mib(function.process_id());
        println!("{name}: {count} events from seed {seed}, {peak} MiB at most");
        assert!(peak <= MEMORY_MIB, "{name} needed {peak} MiB");
    }
    // What people send still works.
    stage.publish(&sequence("after", &[event("Later"), write("bye")]));
    let id = stage.start("after");
    let path = "/elsa/api/events/Later/trigger";
    let told = stage.ask("POST", path, Some(&json!({})));
    assert!(told.status < 300, "{:#}", told.body);
    stage.resume_until(&id, "Finished").await
}
