//! The budget of each use case on AWS: calls to the table, units, queue and schedule calls. More of any of them is
//! slower and dearer for everybody, so the numbers are asserted; `--nocapture` prints them as US$ per million.

#![allow(
    clippy::large_futures,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

use dormouse_cost::{Account, Bill, Prices, Tally};
use dormouse_engine::definition::Definition;
use dormouse_runtime::{
    DefinitionHandle, EventRequest, PublishOutcome, ResumeOutcome, ResumeRequest, SaveOutcome,
    StartOutcome, StartRequest,
};
use serde_json::{Map, Value, json};

/// What one use case may ask of the parts.
#[derive(Debug, PartialEq)]
struct Budget {
    table_calls: u64,
    write_units: u64,
    read_units: f64,
    queue_requests: u64,
    schedule_calls: u64,
    invocations: u64,
}

impl Budget {
    fn of(tally: &Tally) -> Self {
        Self {
            table_calls: tally.table.calls(),
            write_units: tally.table.write_units(),
            read_units: tally.table.read_units(),
            queue_requests: tally.queue_requests(),
            schedule_calls: tally.schedule_calls,
            invocations: tally.invocations,
        }
    }
}

fn literal(type_name: &str, value: &str) -> Value {
    json!({ "typeName": type_name, "expression": { "type": "Literal", "value": value } })
}

fn write(text: &str) -> Value {
    json!({ "type": "Elsa.WriteLine", "id": text, "text": literal("String", text) })
}

fn delay(span: &str) -> Value {
    json!({ "type": "Elsa.Delay", "id": "delay", "timeSpan": literal("TimeSpan", span) })
}

fn event(name: &str) -> Value {
    json!({ "type": "Elsa.Event", "id": "event", "eventName": literal("String", name) })
}

fn task(name: &str) -> Value {
    json!({ "type": "Elsa.RunTask", "id": "task", "taskName": literal("String", name) })
}

fn cron() -> Value {
    json!({
        "type": "Elsa.Cron", "id": "cron", "cronExpression": literal("String", "0 0 7 * * *"),
        "customProperties": { "canStartWorkflow": true },
    })
}

fn child(id: &str) -> Value {
    json!({
        "type": "Elsa.DispatchWorkflow", "id": "child",
        "workflowDefinitionId": literal("String", id),
        "waitForCompletion": { "typeName": "Boolean", "expression": { "type": "Literal", "value": true } },
    })
}

/// An account in which the workflow is published and has run before.
async fn warm(activities: &[Value]) -> Account {
    let account = Account::new();
    publish(&account, "part", &[write("a"), write("b")]).await;
    publish(&account, "flow", activities).await;
    account.settle().await.unwrap();
    start(&account).await;
    account.settle().await.unwrap();
    account.take_tally();
    account
}

async fn publish(account: &Account, id: &str, activities: &[Value]) {
    let definition = Definition::from_value(json!({
        "definitionId": id, "name": id, "toolVersion": "3.6.0.0",
        "root": { "type": "Elsa.Sequence", "id": "root", "activities": activities },
    }));
    let (runtime, tenant) = (account.runtime(), account.tenant());
    let saved = runtime
        .definitions()
        .save(tenant, definition.unwrap())
        .await;
    assert!(matches!(saved.unwrap(), SaveOutcome::Saved { .. }));
    let published = runtime.definitions().publish(tenant, id).await;
    assert!(matches!(published.unwrap(), PublishOutcome::Published(_)));
}

/// Starts an instance; answers its id and its first open bookmark.
async fn start(account: &Account) -> (String, String) {
    let request = StartRequest::new(DefinitionHandle::published("flow"));
    let started = account
        .runtime()
        .instances()
        .start(account.tenant(), request);
    let StartOutcome::Started(report) = account.api(started).await.unwrap() else {
        panic!("not started");
    };
    let bookmark = report.instance.bookmarks.first();
    let bookmark = bookmark.map(|b| b.id.to_string()).unwrap_or_default();
    (report.instance.id.to_string(), bookmark)
}

fn check(what: &str, account: &Account, budget: &Budget) {
    let tally = account.take_tally();
    let bill = Bill::of(&tally, &Prices::of_this_build().unwrap());
    println!(
        "{what:<28} US$ {:>6.2} per million (Step Functions Standard {:>6.2}): {:?}",
        bill.usd_per_million_runs,
        bill.step_functions_usd_per_million_runs,
        Budget::of(&tally)
    );
    assert_eq!(&Budget::of(&tally), budget, "{what}");
}

#[tokio::test]
async fn a_start_that_runs_to_its_end() {
    let account = warm(&[write("a"), write("b"), write("c")]).await;
    start(&account).await;
    let budget = Budget {
        table_calls: 2,
        write_units: 2,
        read_units: 1.0,
        queue_requests: 0,
        schedule_calls: 0,
        invocations: 1,
    };
    check("start, three activities", &account, &budget);
}

#[tokio::test]
async fn a_start_that_waits_and_its_resume_by_a_link() {
    let account = warm(&[task("review"), write("end")]).await;
    let (instance, bookmark) = start(&account).await;
    let waits = Budget {
        table_calls: 4,
        write_units: 4,
        read_units: 1.0,
        queue_requests: 0,
        schedule_calls: 0,
        invocations: 1,
    };
    check("start, waits for a task", &account, &waits);
    let request = ResumeRequest::bookmark(instance, bookmark, Map::new());
    let resumed = account
        .runtime()
        .instances()
        .resume(account.tenant(), request);
    let resumed = account.api(resumed).await.unwrap();
    assert!(matches!(resumed, ResumeOutcome::Resumed(_)));
    let resumes = Budget {
        table_calls: 2,
        write_units: 2,
        read_units: 1.0,
        queue_requests: 0,
        schedule_calls: 0,
        invocations: 1,
    };
    check("resume by a link or a task", &account, &resumes);
}

#[tokio::test]
async fn a_start_that_waits_for_an_event_and_the_event() {
    let account = warm(&[event("go"), write("end")]).await;
    let (instance, _) = start(&account).await;
    let waits = Budget {
        table_calls: 4,
        write_units: 3,
        read_units: 2.0,
        queue_requests: 0,
        schedule_calls: 0,
        invocations: 1,
    };
    check("start, waits for an event", &account, &waits);
    let to_one = EventRequest {
        name: "go".into(),
        instance_id: Some(instance),
        ..EventRequest::default()
    };
    let published = account
        .runtime()
        .stimuli()
        .publish_event(account.tenant(), to_one);
    account.api(published).await.unwrap();
    account.settle().await.unwrap();
    let resumes = Budget {
        table_calls: 3,
        write_units: 3,
        read_units: 1.0,
        queue_requests: 0,
        schedule_calls: 0,
        invocations: 1,
    };
    check("event that resumes one", &account, &resumes);
}

#[tokio::test]
async fn a_timer_within_a_quarter_of_an_hour() {
    let account = warm(&[delay("00:10:00"), write("end")]).await;
    while account.pass_time().await.unwrap() {}
    account.take_tally();
    start(&account).await;
    account.settle().await.unwrap();
    let waits = Budget {
        table_calls: 2,
        write_units: 2,
        read_units: 1.0,
        queue_requests: 1,
        schedule_calls: 0,
        invocations: 1,
    };
    check("start, waits ten minutes", &account, &waits);
    while account.pass_time().await.unwrap() {}
    let fires = Budget {
        table_calls: 2,
        write_units: 2,
        read_units: 1.0,
        queue_requests: 2,
        schedule_calls: 0,
        invocations: 1,
    };
    check("resume by a near timer", &account, &fires);
}

#[tokio::test]
async fn a_timer_of_three_days() {
    let account = warm(&[delay("3.00:00:00"), write("end")]).await;
    while account.pass_time().await.unwrap() {}
    account.take_tally();
    start(&account).await;
    account.settle().await.unwrap();
    let waits = Budget {
        table_calls: 2,
        write_units: 2,
        read_units: 1.0,
        queue_requests: 0,
        schedule_calls: 1,
        invocations: 1,
    };
    check("start, waits three days", &account, &waits);
    while account.pass_time().await.unwrap() {}
    let fires = Budget {
        table_calls: 2,
        write_units: 2,
        read_units: 1.0,
        queue_requests: 6,
        schedule_calls: 0,
        invocations: 2,
    };
    check("resume by a far timer", &account, &fires);
}

#[tokio::test]
async fn an_occurrence_of_a_cron_trigger() {
    let account = Account::new();
    publish(&account, "flow", &[cron(), write("end")]).await;
    account.settle().await.unwrap();
    account.take_tally();
    // From its schedule over the delayed message to the end of what it starts.
    let fire = async || {
        while account.tally().activities == 0 {
            assert!(account.pass_time_to_occurrence().await.unwrap());
            account.settle().await.unwrap();
        }
    };
    fire().await;
    account.take_tally();
    fire().await;
    let budget = Budget {
        table_calls: 5,
        write_units: 4,
        read_units: 2.0,
        queue_requests: 6,
        schedule_calls: 1,
        invocations: 2,
    };
    check("cron occurrence", &account, &budget);
}

#[tokio::test]
async fn a_child_that_is_waited_for() {
    let account = warm(&[child("part"), write("end")]).await;
    start(&account).await;
    account.settle().await.unwrap();
    let budget = Budget {
        table_calls: 11,
        write_units: 10,
        read_units: 4.0,
        queue_requests: 6,
        schedule_calls: 0,
        invocations: 3,
    };
    check("parent and child to the end", &account, &budget);
}
