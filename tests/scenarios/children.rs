//! Other workflows: executed, dispatched, dispatched in bulk, and what becomes of them.

use dormouse_tests::primitives::{
    bulk, delay, dispatch, event, execute, fault, line, sequence, set_output, write,
};
use dormouse_tests::{
    Activity, Scenario, Workflow, cancelled, faulted, finished, js, object, suspended, variable,
    workflow,
};
use serde_json::json;

fn scenario(root: Activity, child: Activity) -> Scenario {
    let parent = workflow("parent", root).variable("got", "Object", json!(null));
    Scenario::of(&parent).with(&child_of(child))
}

fn child_of(root: Activity) -> Workflow {
    workflow("child", root).output("Out", "Object")
}

fn show() -> Activity {
    write(js("JSON.stringify(getGot())"))
}

#[test]
fn an_executed_child_that_ends_gives_all_of_its_end() {
    let root = sequence([execute("child", true).bind("result", "got"), show()]);
    let mut it = scenario(root, set_output("Out", "value"));
    let seen = it.start();
    let told: serde_json::Value = serde_json::from_str(&seen.lines[0]).unwrap();
    let child = it.host.instances_of("child")[0].id.clone();
    assert_eq!(
        told,
        json!({
            "WorkflowDefinitionVersionId": null,
            "WorkflowInstanceId": child.as_str(),
            "CorrelationId": null,
            "Status": "Finished",
            "SubStatus": "Finished",
            "Output": { "Out": "value" },
        })
    );
}

#[test]
fn the_end_of_an_executed_child_is_read_in_both_casings() {
    let script =
        "[getGot().Status, getGot().status, getGot().Output.Out, getGot().output.Out].join()";
    let root = sequence([
        execute("child", true).bind("result", "got"),
        write(js(script)),
    ]);
    scenario(root, set_output("Out", "value"))
        .start()
        .is(finished().lines(&["Finished,Finished,value,value"]));
}

#[test]
fn an_executed_child_that_waits_is_waited_for() {
    let root = sequence([
        execute("child", true).id("Run").bind("result", "got"),
        show(),
    ]);
    let mut it = scenario(root, sequence([event("Go"), set_output("Out", "late")]));
    it.start().is(suspended(&["Run"]));
    it.event("Go", json!(1))
        .is(finished().lines(&[r#"{"Out":"late"}"#]));
}

#[test]
fn an_executed_child_that_waits_is_left_alone_if_nobody_waits() {
    let root = sequence([
        execute("child", false).bind("result", "got"),
        write(js("getGot().subStatus")),
    ]);
    let mut it = scenario(root, sequence([event("Go"), line("Child")]));
    it.start().is(finished().lines(&["Suspended"]));
    it.event("Go", json!(1)).is(finished().lines(&["Child"]));
}

#[test]
fn a_dispatched_child_gives_its_output_to_a_parent_that_waits() {
    let root = sequence([
        dispatch("child", true).id("Run").bind("result", "got"),
        show(),
    ]);
    let mut it = scenario(root, set_output("Out", "value"));
    it.start().is(finished()
        .lines(&[r#"{"Out":"value"}"#])
        .effects(&["start child"])
        .journal("Workflow1+ Sequence1+ Run+ Run~ Run> Run- WriteLine1+ WriteLine1- Sequence1- Workflow1-"));
}

#[test]
fn a_child_that_fails_or_is_cancelled_has_ended_too() {
    let root = || sequence([dispatch("child", true), line("After")]);
    let mut it = scenario(root(), fault("broken"));
    assert_eq!(it.start().lines, ["After"]);
    let mut it = scenario(root(), event("Never"));
    it.start();
    let child = it.host.instances_of("child")[0].id.clone();
    it.when(|host, _| {
        host.step(&child, dormouse_engine::step::Stimulus::Cancel);
    })
    .is(finished().lines(&["After"]));
}

#[test]
fn a_cancelled_parent_cancels_its_children() {
    let root = dispatch("child", true).id("Run");
    let mut it = scenario(root, sequence([dispatch("grandchild", true)]))
        .with(&workflow("grandchild", event("Never")));
    it.start().is(suspended(&["Run"]).effects(&["start child"]));
    it.cancel().is(cancelled().effects(&["cancel child"]));
    for id in ["child", "grandchild"] {
        let states: Vec<_> = it
            .host
            .instances_of(id)
            .iter()
            .map(|i| i.sub_status.as_str())
            .collect();
        assert_eq!(states, ["Cancelled"], "{id}");
    }
}

#[test]
fn a_parent_that_ends_leaves_its_children_alone() {
    let mut it = scenario(dispatch("child", false), event("Later"));
    it.start().is(finished().effects(&["start child"]));
    assert_eq!(
        it.host.instances_of("child")[0].sub_status.as_str(),
        "Suspended"
    );
}

#[test]
fn a_child_knows_its_parent() {
    let root = dispatch("child", true)
        .input("input", object(json!({ "A": 1 })))
        .input("correlationId", "c-1");
    let child = write(js(
        "`${getInput('A')} ${getInput('ParentInstanceId')} ${getCorrelationId()}`",
    ));
    let mut it = scenario(root, child);
    it.start();
    assert_eq!(it.host.lines, ["1 instance-1 c-1"]);
    let child = it.host.instances_of("child").remove(0);
    assert_eq!(
        json!(child.properties),
        json!({ "ParentInstanceId": "instance-1", "WaitForCompletion": true })
    );
}

#[test]
fn bulk_sets_off_its_ports_as_children_end() {
    let root = bulk(
        "child",
        json!([{ "Time": "00:00:20" }, { "Time": "00:00:10" }]),
        true,
    )
    .id("All")
    .port(
        "childCompleted",
        write(js("`one of ${typeof getChildInstanceId()}`")),
    );
    let child = sequence([
        delay("00:00:00").input("timeSpan", js("getInput('Time')")),
        line("Child"),
    ]);
    let mut it = scenario(sequence([root, line("After")]), child);
    it.start()
        .is(suspended(&["All"]).effects(&["start child", "start child"]));
    it.after("00:00:10")
        .is(suspended(&["All"]).lines(&["Child", "one of string"]));
    it.after("00:00:10")
        .is(finished().lines(&["Child", "one of string", "After"]));
}

#[test]
fn bulk_leads_through_completed_and_done() {
    let edges = "All:Completed>Completed; All:Done>Done; All:Canceled>Canceled";
    let root = dormouse_tests::flow::flow(edges, [bulk("child", json!([1]), true).id("All")]);
    let mut it = scenario(root, set_output("Out", "x"));
    assert_eq!(it.start().lines, ["Completed", "Done"]);
}

#[test]
fn a_child_in_the_background_is_not_held_up() {
    let root = sequence([
        execute("child", true)
            .background()
            .id("Run")
            .bind("result", "got"),
        write(js("getGot().subStatus")),
    ]);
    let mut it = scenario(root, set_output("Out", variable("none")));
    let seen = it.start();
    assert_eq!(seen.effects, ["call in the background"]);
    assert_eq!(it.host.lines, ["Finished"]);
}

#[test]
fn a_workflow_that_nobody_published_fails_its_parent() {
    let mut it = Scenario::of(&workflow(
        "parent",
        sequence([execute("nobody", true), line("Never")]),
    ));
    it.start()
        .is(faulted(&["there is no published workflow `nobody`"]));
}
