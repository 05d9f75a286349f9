//! Waiting for somebody: events and tasks.

use dormouse_engine::instance::Start;
use dormouse_engine::step::Stimulus;
use dormouse_tests::primitives::{event, line, parallel, publish, sequence, task, write};
use dormouse_tests::scenario::entries;
use dormouse_tests::{Activity, Scenario, activity, finished, js, object, suspended, workflow};
use serde_json::{Map, json};

fn scenario(root: Activity) -> Scenario {
    Scenario::of(&workflow("signals", root).variable("got", "Object", json!(null)))
}

fn show() -> Activity {
    write(js("JSON.stringify(getGot())"))
}

#[test]
fn an_event_brings_its_payload() {
    let mut it = scenario(sequence([event("Paid").bind("result", "got"), show()]));
    it.start().is(suspended(&["Paid"]));
    it.event("Shipped", json!(1)).is(suspended(&["Paid"]));
    it.event("Paid", json!({ "amount": 3 }))
        .is(finished().lines(&[r#"{"amount":3}"#]));
}

#[test]
fn two_branches_that_wait_for_one_event_both_get_it() {
    let branch = |name: &str| {
        let wait = event("Paid").id(name);
        sequence([wait, line(&format!("{name} done"))])
    };
    let mut it = scenario(parallel([branch("A"), branch("B")]));
    it.start().is(suspended(&["A", "B"]));
    it.event("Paid", json!(null))
        .is(finished().lines(&["A done", "B done"]));
}

#[test]
fn a_second_event_finds_nobody() {
    let mut it = scenario(sequence([event("Paid"), event("Shipped")]));
    it.start().is(suspended(&["Paid"]));
    it.event("Paid", json!(1)).is(suspended(&["Shipped"]));
    it.event("Paid", json!(2)).is(suspended(&["Shipped"]));
}

#[test]
fn an_event_that_starts_an_instance_is_not_waited_for_again() {
    let mut it = scenario(sequence([
        event("Paid").trigger().bind("result", "got"),
        show(),
    ]));
    let start = Start {
        trigger_activity_id: Some("Paid".into()),
        input: entries(json!({ "Payload": 7 })),
        ..Start::default()
    };
    it.start_as(start).is(finished().lines(&["7"]));
}

#[test]
fn publishing_is_asked_for_and_not_waited_for() {
    // An object in the definition is sent as the text it is there; a script gives a value.
    let given = json!({ "a": 1 });
    let mut it = scenario(sequence([
        publish("Paid", given.clone()),
        publish("Paid", given).input("payload", js("({ a: 1 })")),
        line("After"),
    ]));
    it.start().is(finished()
        .lines(&["After"])
        .effects(&[r#"publish Paid "{\"a\":1}""#, r#"publish Paid {"a":1}"#]));
}

#[test]
fn a_correlated_event_finds_only_its_own() {
    let correlate = activity("Elsa.Correlate").input("correlationId", js("getInput('Key')"));
    let waiter = workflow(
        "waiter",
        sequence([correlate, event("Paid"), line("Got it")]),
    );
    let root = publish("Paid", json!(1)).input("correlationId", "b");
    let mut it = scenario(root).with(&waiter);
    for key in ["a", "b"] {
        let input = entries(json!({ "Key": key }));
        it.host.start(
            "waiter",
            Start {
                input,
                ..Start::default()
            },
        );
    }
    it.start().is(finished()
        .lines(&["Got it"])
        .effects(&[r#"publish Paid "1" to b"#]));
    let waiters = it.host.instances_of("waiter");
    let states: Vec<_> = waiters.iter().map(|i| i.sub_status.as_str()).collect();
    assert_eq!(states, ["Suspended", "Finished"]);
}

#[test]
fn a_task_is_asked_for_and_its_result_comes_back() {
    let payload = object(json!({ "id": 5 }));
    let task = task("Review")
        .input("payload", payload)
        .bind("result", "got");
    let mut it = scenario(sequence([task, show()]));
    it.start()
        .is(suspended(&["Review"]).effects(&[r#"task Review {"id":5}"#]));
    assert_eq!(it.host.tasks.len(), 1);
    it.task_done("Review", json!("fine"))
        .is(finished().lines(&[r#""fine""#]));
}

#[test]
fn a_task_is_done_once() {
    let mut it = scenario(sequence([task("Review"), event("Later")]));
    it.start();
    let bookmark = it.bookmark("Review");
    it.task_done("Review", json!(1)).is(suspended(&["Later"]));
    let again = Stimulus::Resume {
        bookmark,
        input: Map::new(),
    };
    it.when(|host, id| assert!(!host.step(id, again)))
        .is(suspended(&["Later"]));
}
