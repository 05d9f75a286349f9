//! States, and what leads from one to the other.

use dormouse_tests::primitives::{event, line, set};
use dormouse_tests::{Activity, Scenario, activity, finished, js, suspended, workflow};
use serde_json::{Value, json};

fn state(name: &str) -> Value {
    let (entry, exit) = (
        line(&format!("enter {name}")),
        line(&format!("leave {name}")),
    );
    json!({ "name": name, "entry": entry.json(), "exit": exit.json() })
}

fn transition(from: &str, to: &str, trigger: Activity) -> Value {
    let action = line(&format!("{from} to {to}"));
    json!({ "name": format!("{from}-{to}"), "from": from, "to": to, "trigger": trigger.json(), "action": action.json() })
}

fn door(transitions: Vec<Value>) -> Scenario {
    let root = activity("Elsa.StateMachine")
        .set(
            "states",
            json!([state("Closed"), state("Open"), state("Broken")]),
        )
        .set("transitions", transitions)
        .set("initialState", "Closed");
    Scenario::of(&workflow("door", root).variable("n", "Int32", 0))
}

#[test]
fn it_moves_as_its_triggers_say_and_ends_where_nothing_leads_on() {
    let mut it = door(vec![
        transition("Closed", "Open", event("open")),
        transition("Open", "Closed", event("close")),
        transition("Open", "Broken", event("kick")),
    ]);
    it.start().is(suspended(&["open"]).lines(&["enter Closed"]));
    it.event("open", json!(1))
        .is(suspended(&["close", "kick"]).lines(&["Closed to Open", "leave Closed", "enter Open"]));
    it.event("close", json!(1)).is(suspended(&["open"]).lines(&[
        "Open to Closed",
        "leave Open",
        "enter Closed",
    ]));
    it.event("kick", json!(1)).is(suspended(&["open"]));
    // The kick was kept, and finds the door once it is open.
    let lines = [
        "Closed to Open",
        "leave Closed",
        "enter Open",
        "Open to Broken",
        "leave Open",
        "enter Broken",
    ];
    it.event("open", json!(1)).is(finished().lines(&lines));
}

#[test]
fn a_condition_that_is_false_arms_the_trigger_again() {
    let mut guarded = transition("Closed", "Open", event("open"));
    guarded["condition"] = js("getN() > 0").json();
    let mut it = door(vec![
        guarded,
        transition("Closed", "Closed", event("count")),
    ]);
    it.start()
        .is(suspended(&["open", "count"]).lines(&["enter Closed"]));
    let seen = it.event("open", json!(1));
    assert!(seen.lines.is_empty() && seen.waits.len() == 2, "{seen:#?}");
    let mut add = transition("Closed", "Closed", event("count"));
    add["action"] = set("n", js("getN() + 1")).json();
    let mut guarded = transition("Closed", "Open", event("open"));
    guarded["condition"] = js("getN() > 0").json();
    let mut it = door(vec![guarded, add]);
    it.start();
    it.event("count", json!(1));
    it.event("open", json!(1)).is(finished().lines(&[
        "Closed to Open",
        "leave Closed",
        "enter Open",
    ]));
}
