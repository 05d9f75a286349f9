//! What activities and workflows give, and who can read it.

use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{complete, event, line, run_js, sequence, set_output, write};
use dormouse_tests::{Scenario, Workflow, activity, finished, js, suspended, workflow};
use serde_json::json;

#[test]
fn an_output_bound_to_a_workflow_output_is_given() {
    let root = run_js("return 5").bind("result", "Out");
    Scenario::of(&workflow("outputs", root).output("Out", "Int32"))
        .start()
        .is(finished().output("Out", 5));
}

#[test]
fn set_output_gives_what_nobody_declared_too() {
    let root = sequence([set_output("A", "a"), set_output("B", js("[1]"))]);
    Scenario::of(&workflow("outputs", root).output("A", "String"))
        .start()
        .is(finished().output("A", "a").output("B", json!([1])));
}

#[test]
fn an_unbound_output_is_read_by_the_activitys_name() {
    let read = "getResultFromGive() + getOutputFrom('Give') + getOutputFrom('Give', 'Result') + getLastResult()";
    let root = sequence([run_js("return 'x'").id("Give"), write(js(read))]);
    Scenario::of(&workflow("outputs", root))
        .start()
        .is(finished().lines(&["xxxx"]));
}

#[test]
fn before_tool_version_3_an_output_is_read_by_the_activitys_id() {
    let give = run_js("return 'x'").set("id", "a1").set("name", "Give");
    let root = sequence([give, write(js("getResultFromA1()"))]);
    Scenario::of(&workflow("outputs", root).set("toolVersion", json!(null)))
        .start()
        .is(finished().lines(&["x"]));
}

#[test]
fn outputs_survive_a_wait() {
    // The event has a result too, so the last one is the event's.
    let show = write(js("getResultFromGive() + getLastResult()"));
    let root = sequence([run_js("return 'x'").id("Give"), event("Wait"), show]);
    let mut it = Scenario::of(&workflow("outputs", root));
    it.start().is(suspended(&["Wait"]));
    it.resume_with("Wait", json!({ "Payload": "y" }))
        .is(finished().lines(&["xy"]));
}

/// A workflow used as an activity that doubles its input.
fn double() -> Workflow {
    let show = write(js("`inside ${getNumber()}`"));
    let root = sequence([show, set_output("Result", js("getNumber() * 2"))]);
    workflow("Double", root)
        .as_activity()
        .input("Number", "Int32")
        .output("Result", "Int32")
}

#[test]
fn a_workflow_as_an_activity_takes_inputs_and_gives_outputs() {
    let call = activity("Double")
        .id("Call")
        .input("number", js("20 + 1"))
        .bind("result", "n");
    let root = sequence([call, write(js("`outside ${getN()}`"))]);
    Scenario::of(&workflow("outputs", root).variable("n", "Int32", 0))
        .with(&double())
        .start()
        .is(finished().lines(&["inside 21", "outside 42"]));
}

#[test]
fn two_uses_of_one_workflow_do_not_mix() {
    let call = |id: &str, number: i64| activity("Double").id(id).input("number", number);
    let show = write(js("getResultFromOne() + ' ' + getResultFromTwo()"));
    Scenario::of(&workflow(
        "outputs",
        sequence([call("One", 1), call("Two", 2), show]),
    ))
    .with(&double())
    .start()
    .is(finished().lines(&["inside 1", "inside 2", "2 4"]));
}

#[test]
fn a_workflow_as_an_activity_ends_through_its_outcomes() {
    let child = workflow("Choose", sequence([complete(&["Left"]), line("Never")]))
        .as_activity()
        .outcomes(&["Left", "Right"]);
    let edges = "Choose:Left>L; Choose:Right>R; Choose>D";
    let root = flow(edges, [activity("Choose").id("Choose")]);
    // The sequence and the workflow inside end as usual; the outcome is told of the activity that stands for them.
    Scenario::of(&workflow("outputs", root))
        .with(&child)
        .start()
        .is(finished().lines(&["L"]).journal(
            "Workflow2+ Flowchart1+ Choose+ Workflow1+ Sequence1+ Complete1+ Complete1- Sequence1-
             Workflow1- Choose-Left L+ L- Flowchart1- Workflow2-",
        ));
}

#[test]
fn a_workflow_as_an_activity_waits_inside_the_same_instance() {
    let child = workflow("Inner", sequence([event("Wait"), line("Inside")])).as_activity();
    let root = sequence([activity("Inner"), line("Outside")]);
    let mut it = Scenario::of(&workflow("outputs", root)).with(&child);
    it.start().is(suspended(&["Wait"]));
    assert_eq!(it.host.instances.len(), 1);
    it.resume("Wait")
        .is(finished().lines(&["Inside", "Outside"]));
}

#[test]
fn a_workflow_that_is_nowhere_fails_where_it_is_used() {
    let root = sequence([line("Before"), activity("Nowhere")]);
    let seen = Scenario::of(&workflow("outputs", root)).start();
    assert_eq!(seen.lines, ["Before"]);
    assert!(seen.incidents[0].contains("`Nowhere`"), "{seen:?}");
}
