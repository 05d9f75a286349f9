//! What the journal tells of inputs, outputs and ends.

use dormouse_engine::journal::Event;
use dormouse_tests::primitives::{event, fault, line, run_js, sequence, task, write};
use dormouse_tests::{Activity, Scenario, Workflow, js, variable, workflow};
use serde_json::{Value, json};

/// What the journal says with an event of an activity.
fn told(it: &Scenario, event: Event, activity_id: &str) -> Value {
    let kept = it.host.kept(it.id()).unwrap();
    let is_it = |e: &&dormouse_engine::journal::Entry| {
        e.event == event && kept.graph.node(e.node).id == activity_id
    };
    kept.journal
        .iter()
        .find(is_it)
        .expect("such a line")
        .data
        .clone()
}

fn started(definition: &Workflow) -> Scenario {
    let mut it = Scenario::of(definition);
    it.start();
    it
}

#[test]
fn inputs_are_told_when_an_activity_begins() {
    let it = started(&workflow("journal", write(js("'a' + 'b'")).id("Write")));
    assert_eq!(told(&it, Event::Started, "Write"), json!({ "Text": "ab" }));
}

#[test]
fn outputs_and_outcomes_are_told_when_it_ends() {
    let root = run_js("setOutcomes(['X', 'Y']); return 1").id("Run");
    let it = started(&workflow("journal", root));
    let expected = json!({ "outcomes": ["X", "Y"], "outputs": { "Result": 1 } });
    assert_eq!(told(&it, Event::Completed, "Run"), expected);
}

#[test]
fn outputs_set_before_a_wait_are_told_at_the_end() {
    let mut it = started(&workflow("journal", task("Review")));
    it.task_done("Review", json!("fine"));
    let outputs = told(&it, Event::Completed, "Review")["outputs"].clone();
    assert_eq!(outputs["Result"], "fine");
    assert!(outputs["TaskId"].is_string(), "{outputs}");
}

#[test]
fn a_fault_is_told_with_its_kind_and_message() {
    let it = started(&workflow("journal", fault("broken").id("Fault")));
    let exception = told(&it, Event::Faulted, "Fault")["exception"].clone();
    assert_eq!(exception["message"], "broken");
    assert_eq!(exception["type"], "FaultException");
}

/// What is told of the input of a `WriteLine` with a custom property, in a workflow with one.
fn told_with(own: Option<(&str, Value)>, workflows: Option<Value>) -> Value {
    let mut shown: Activity = write(variable("v")).id("Write");
    if let Some((name, value)) = own {
        shown = shown.custom(name, value);
    }
    let mut definition = workflow("journal", shown).variable("v", "String", "secret");
    if let Some(value) = workflows {
        definition = definition.set("customProperties", json!({ "logPersistenceMode": value }));
    }
    told(&started(&definition), Event::Started, "Write")
}

#[test]
fn the_nearest_log_persistence_mode_decides() {
    let (shown, hidden) = (json!({ "Text": "secret" }), Value::Null);
    let excluded = || Some(json!({ "default": "Exclude" }));
    let own = |json: Value| Some(("logPersistenceMode", json));
    assert_eq!(told_with(None, None), shown);
    assert_eq!(told_with(None, excluded()), hidden);
    assert_eq!(
        told_with(own(json!({ "default": "Include" })), excluded()),
        shown
    );
    assert_eq!(
        told_with(own(json!({ "default": "Inherit" })), excluded()),
        hidden
    );
    let property = json!({ "default": "Include", "inputs": { "text": "Exclude" } });
    assert_eq!(told_with(own(property), None), hidden);
}

#[test]
fn log_persistence_strategies_decide_alike() {
    let strategy = |name: &str| {
        let class = format!("Elsa.Workflows.LogPersistence.Strategies.{name}, Elsa.Workflows.Core");
        json!({ "evaluationMode": "Strategy", "strategyType": class, "expression": null })
    };
    let own = |default: &str, text: &str| {
        let inputs = json!({ "text": strategy(text) });
        let config = json!({ "default": strategy(default), "inputs": inputs, "outputs": {} });
        told_with(Some(("logPersistenceConfig", config)), None)
    };
    assert_eq!(own("Exclude", "Include"), json!({ "Text": "secret" }));
    assert_eq!(own("Include", "Exclude"), Value::Null);
    assert_eq!(own("Exclude", "Inherit"), Value::Null);
    assert_eq!(own("Inherit", "Inherit"), json!({ "Text": "secret" }));
}

#[test]
fn every_line_is_numbered_over_the_life_of_the_instance() {
    let mut it = started(&workflow(
        "journal",
        sequence([line("A"), event("Wait"), line("B")]),
    ));
    it.resume("Wait");
    let journal = &it.host.kept(it.id()).unwrap().journal;
    let numbers: Vec<u64> = journal.iter().map(|e| e.sequence).collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    let text = "Workflow1+ Sequence1+ A+ A- Wait+ Wait~ Wait> Wait- B+ B- Sequence1- Workflow1-";
    assert_eq!(it.journal(), text);
}
