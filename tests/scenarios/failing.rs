//! Faults, incidents, trying again, and limits.

use dormouse_engine::instance::SubStatus;
use dormouse_expressions::{Expressions, Limits};
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{
    decision, event, fault, for_, if_, line, parallel, parallel_for_each, run_js, sequence, set,
    while_, write,
};
use dormouse_tests::{
    Activity, Scenario, Workflow, activity, cancelled, faulted, finished, js, object, suspended,
    workflow,
};
use serde_json::json;

fn allowing(root: Activity) -> Workflow {
    workflow("failing", root).continue_with_incidents()
}

#[test]
fn a_fault_ends_the_instance_and_says_why() {
    let fault = fault("no stock")
        .id("Fault")
        .input("code", "17")
        .input("category", "Stock");
    let mut it = Scenario::of(&workflow(
        "failing",
        sequence([line("A"), fault, line("B")]),
    ));
    it.start().is(faulted(&["no stock"])
        .lines(&["A"])
        .journal("Workflow1+ Sequence1+ A+ A- Fault+ Fault!"));
    let incident = it.instance().incidents.remove(0);
    assert_eq!(incident.activity_id, "Fault");
    assert_eq!(incident.activity_node_id, "Workflow1:Sequence1:Fault");
    assert_eq!(incident.activity_type, "Elsa.Fault");
    let metadata = json!(incident.exception.unwrap().metadata);
    assert_eq!(
        metadata,
        json!({ "code": "17", "category": "Stock", "type": "System" })
    );
}

#[test]
fn what_is_queued_when_an_activity_fails_still_runs() {
    let body = if_(js("getCurrentValue() === 'b'"), fault("b failed"));
    let body = body.port("else", write(js("getCurrentValue()")));
    let root = parallel_for_each(object(json!(["a", "b", "c"])), body);
    let mut it = Scenario::of(&workflow("failing", root));
    it.start().is(faulted(&["b failed"]).lines(&["a", "c"]));
}

#[test]
fn with_incidents_allowed_a_container_waits_for_its_failed_child() {
    let children = [fault("one"), event("Go"), fault("two")];
    let mut it = Scenario::of(&allowing(sequence([parallel(children), line("Never")])));
    it.start().is(suspended(&["Go"]).incidents(&["one", "two"]));
    it.resume("Go")
        .is(suspended(&[]).incidents(&["one", "two"]));
    it.cancel().is(cancelled().incidents(&["one", "two"]));
}

#[test]
fn a_flowchart_with_a_failed_child_does_not_end() {
    let root = flow("Start>Fault; Start>Other", [fault("broken").id("Fault")]);
    let mut it = Scenario::of(&allowing(root));
    it.start().is(suspended(&[])
        .lines(&["Start", "Other"])
        .incidents(&["broken"]));
}

#[test]
fn a_failed_activity_is_tried_again() {
    let stubborn = run_js("if (getN() < 1) { throw new Error('not yet') }").id("Try");
    let fix = sequence([event("Fix"), set("n", 1_i64)]);
    let root = parallel([sequence([stubborn, line("After")]), fix]);
    let mut it = Scenario::of(&allowing(root).variable("n", "Int32", 0));
    assert_eq!(it.start().incidents.len(), 1);
    assert_eq!(
        it.retry().incidents.len(),
        1,
        "it failed again, and there is one incident of it"
    );
    assert_eq!(it.resume("Fix").sub_status, SubStatus::Suspended);
    it.retry().is(finished()
        .lines(&["After"])
        .journal("Try+ Try- After+ After- Sequence1- Parallel1- Workflow1-"));
}

#[test]
fn a_faulted_instance_goes_on_when_it_is_tried_again() {
    let script =
        "if (!getVariable('tried')) { setVariable('tried', true); throw new Error('once') }";
    let root = sequence([run_js(script).id("Try"), line("After")]);
    let mut it = Scenario::of(&workflow("failing", root));
    assert_eq!(it.start().sub_status, SubStatus::Faulted);
    it.retry().is(finished()
        .lines(&["After"])
        .journal("Try+ Try- After+ After- Sequence1- Workflow1-"));
}

#[test]
fn trying_again_without_a_failure_changes_nothing() {
    let mut it = Scenario::of(&workflow("failing", event("Wait")));
    it.start();
    it.retry().is(suspended(&["Wait"]));
}

#[test]
fn a_loop_without_end_is_stopped_by_name() {
    let root = while_(true, set("n", js("getN() + 1")));
    let mut it = Scenario::of(&workflow("failing", root).variable("n", "Int32", 0));
    it.host.limits.burst_activities_max = 100;
    let seen = it.start();
    assert_eq!(seen.sub_status, SubStatus::Faulted);
    assert!(
        seen.incidents[0].contains("burst_activities_max = 100"),
        "{seen:?}"
    );
    let exception = it.instance().incidents[0].exception.clone().unwrap();
    let expected = json!({ "limit": "burst_activities_max", "value": 100 });
    assert_eq!(json!(exception.metadata), expected);
}

#[test]
fn no_strategy_saves_a_loop_without_end() {
    let mut it = Scenario::of(&allowing(while_(true, line("Again"))));
    it.host.limits.burst_activities_max = 50;
    assert_eq!(it.start().sub_status, SubStatus::Faulted);
}

#[test]
fn a_loop_that_waits_may_go_on_for_ever() {
    let mut it = Scenario::of(&workflow("failing", while_(true, event("Next"))));
    it.host.limits.burst_activities_max = 10;
    it.start();
    for _ in 0..50 {
        it.resume("Next").is(suspended(&["Next"]));
    }
}

#[test]
fn too_much_at_once_is_stopped_by_name() {
    let root = parallel_for_each(js("Array(500).fill(1)"), event("Wait"));
    let mut it = Scenario::of(&workflow("failing", root));
    it.host.limits.contexts_max = 100;
    let seen = it.start();
    assert_eq!(seen.sub_status, SubStatus::Faulted);
    assert!(seen.incidents[0].contains("contexts_max = 100"), "{seen:?}");
}

#[test]
fn a_script_without_end_is_stopped_by_name() {
    let mut it = Scenario::of(&workflow("failing", run_js("while (true) {}")));
    it.host.expressions = Expressions::new(Limits {
        steps_max: 50,
        ..Limits::default()
    });
    let seen = it.start();
    assert_eq!(seen.sub_status, SubStatus::Faulted);
    assert!(seen.incidents[0].contains("steps_max = 50"), "{seen:?}");
}

#[test]
fn an_unknown_activity_fails_only_when_it_runs() {
    let edges = "Decide:True>Fine; Decide:False>Odd";
    let root = |is_fine| {
        let activities = [
            decision(is_fine).id("Decide"),
            activity("Acme.Odd").id("Odd"),
        ];
        Scenario::of(&workflow("failing", flow(edges, activities)))
    };
    root(true).start().is(finished().lines(&["Fine"]));
    let message = root(false).start().incidents.join("");
    assert!(message.contains("no activity type `Acme.Odd`"), "{message}");
}

#[test]
fn a_failure_is_counted_on_every_level_around_it() {
    let mut it = Scenario::of(&allowing(for_(1, 3, sequence([fault("broken")]))));
    it.start().is(suspended(&[]).incidents(&["broken"]));
    let instance = it.instance();
    assert_eq!(instance.contexts.len(), 4);
    assert!(
        instance.contexts.values().all(|c| c.faults == 1),
        "{instance:#?}"
    );
}
