//! Elsa's parents and children: dispatched, executed, in bulk, and inlined.

use dormouse_engine::instance::{Instance, SubStatus};
use dormouse_tests::primitives::{bulk, complete, dispatch, fault, line, sequence, write};
use dormouse_tests::{Activity, Scenario, Workflow, activity, finished, js, object, workflow};
use serde_json::json;

fn scenario(root: Activity, child: &Workflow) -> Scenario {
    Scenario::of(&workflow("parent", root)).with(child)
}

/// A child that takes its time.
fn slow_child() -> Workflow {
    workflow(
        "child",
        sequence([dormouse_tests::primitives::delay("00:00:05"), line("Child")]),
    )
}

fn children(it: &Scenario) -> Vec<Instance> {
    it.host.instances_of("child")
}

#[test]
pub(crate) fn bulk_waits_for_all_children() {
    let root = sequence([bulk("child", json!([1, 2, 3]), true), line("Parent")]);
    let mut it = scenario(root, &workflow("child", line("Child")));
    it.start()
        .shows(SubStatus::Finished, &["Child", "Child", "Child", "Parent"]);
}

#[test]
pub(crate) fn bulk_without_waiting_is_done_at_once() {
    let root = sequence([bulk("child", json!([1, 2, 3]), false), line("Parent")]);
    let mut it = scenario(root, &slow_child());
    it.start().shows(SubStatus::Finished, &["Parent"]);
    let children = children(&it);
    assert_eq!(children.len(), 3);
    for child in children {
        assert_eq!(child.sub_status, SubStatus::Suspended);
        assert_eq!(child.parent.as_ref().map(|p| &p.instance), Some(it.id()));
        assert!(
            !child.properties.contains_key("WaitForCompletion"),
            "{:?}",
            child.properties
        );
    }
    it.after("00:00:05")
        .is(finished().lines(&["Child", "Child", "Child"]));
}

#[test]
pub(crate) fn bulk_gives_each_child_its_correlation_id() {
    let root = bulk("child", json!([1, 2, 3]), true)
        .input("correlationIdFunction", js("`correlation-${getItem()}`"));
    let mut it = scenario(root, &workflow("child", line("Child")));
    it.start();
    let ids: Vec<_> = children(&it)
        .into_iter()
        .filter_map(|c| c.correlation_id)
        .collect();
    assert_eq!(ids, ["correlation-1", "correlation-2", "correlation-3"]);
}

#[test]
pub(crate) fn bulk_counts_failing_children_as_done() {
    let root = bulk("child", json!([1, 2, 3]), true)
        .port("childCompleted", line("Completed"))
        .port("childFaulted", line("Faulted"));
    let mut it = scenario(root, &workflow("child", fault("Broken")));
    it.start();
    assert_eq!(it.host.lines, ["Faulted", "Faulted", "Faulted"]);
    assert_eq!(it.instance().sub_status, SubStatus::Finished);
}

#[test]
pub(crate) fn bulk_over_nothing_is_done() {
    let root = sequence([bulk("child", json!([]), true), line("Parent")]);
    let mut it = scenario(root, &workflow("child", line("Child")));
    it.start().is(finished().lines(&["Parent"]));
}

#[test]
pub(crate) fn an_unknown_child_fails_the_parent() {
    for root in [
        bulk("nobody", json!([1]), true),
        bulk("nobody", json!([1]), false),
        dispatch("nobody", true),
        dispatch("nobody", false),
    ] {
        let mut it = Scenario::of(&workflow("parent", root));
        it.start();
        assert_eq!(it.instance().sub_status, SubStatus::Faulted);
        assert_eq!(it.instance().incidents.len(), 1);
    }
}

#[test]
pub(crate) fn bulk_gives_each_child_its_item() {
    let child =
        workflow("child", write(js("`Mixing ${getInput('Item')}`"))).input("Item", "String");
    let mut it = scenario(
        bulk("child", json!(["Apple", "Banana", "Cherry"]), true),
        &child,
    );
    it.start();
    assert_eq!(
        it.host.lines,
        ["Mixing Apple", "Mixing Banana", "Mixing Cherry"]
    );
}

#[test]
pub(crate) fn a_waiting_parent_ends_after_its_child() {
    let root = sequence([dispatch("child", true), line("Parent")]);
    let mut it = scenario(root, &slow_child());
    it.start().shows(SubStatus::Suspended, &[]);
    it.after("00:00:05")
        .shows(SubStatus::Finished, &["Child", "Parent"]);
}

#[test]
pub(crate) fn a_parent_that_does_not_wait_ends_before_its_child() {
    let root = sequence([dispatch("child", false), line("Parent")]);
    let mut it = scenario(root, &slow_child());
    it.start()
        .is(finished().lines(&["Parent"]).effects(&["start child"]));
    it.after("00:00:05").is(finished().lines(&["Child"]));
    assert!(it.instance().updated_at < children(&it)[0].updated_at);
}

#[test]
pub(crate) fn a_child_receives_its_input() {
    let child = workflow("child", write(js("`Received: ${getInput('Message')}`")))
        .input("Message", "String");
    let root =
        dispatch("child", true).input("input", object(json!({ "Message": "Hello from parent!" })));
    let mut it = scenario(root, &child);
    it.start();
    assert_eq!(it.host.lines, ["Received: Hello from parent!"]);
    assert_eq!(it.instance().sub_status, SubStatus::Finished);
}

#[test]
pub(crate) fn complete_ends_the_nearest_workflow_only() {
    let inner = sequence([line("Inner 1"), complete(&["Done"]), line("Inner 2")]);
    let inner = workflow("Inner", inner).as_activity();
    let middle = sequence([line("Middle 1"), activity("Inner"), line("Middle 2")]);
    let middle = workflow("Middle", middle).as_activity();
    let outer = sequence([line("Outer 1"), activity("Middle"), line("Outer 2")]);
    let mut it = Scenario::of(&workflow("outer", outer))
        .with(&middle)
        .with(&inner);
    let lines = ["Outer 1", "Middle 1", "Inner 1", "Middle 2", "Outer 2"];
    it.start().is(finished().lines(&lines));
}
