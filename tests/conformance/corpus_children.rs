//! What Elsa's own tests expect of its real files that use other workflows.

use dormouse_engine::graph::ROOT;
use dormouse_engine::instance::SubStatus;
use dormouse_tests::{Scenario, Seen};
use serde_json::json;

use super::corpus_runs::{finishes, given};

const EXECUTE: &str = "ExecuteWorkflow__Workflows__";

fn execute(parent: &str, child: &str) -> Option<Scenario> {
    given(
        &format!("{EXECUTE}{parent}.json"),
        &[&format!("{EXECUTE}{child}.json")],
    )
}

#[test]
pub(crate) fn an_executed_child_runs_although_nobody_waits() {
    let Some(mut it) = execute("parent-no-wait", "child-workflow") else {
        return;
    };
    let lines = [
        "Parent: Before child",
        "Child: Executing",
        "Parent: After child",
    ];
    it.start().shows(SubStatus::Finished, &lines);
    let child = &it.host.instances_of("child-workflow")[0];
    assert_eq!(
        child.properties["ParentInstanceId"],
        json!(it.id().as_str())
    );
}

#[test]
pub(crate) fn an_executed_child_receives_an_object() {
    let Some(mut it) = execute("parent-with-input", "child-with-input") else {
        return;
    };
    it.start()
        .shows(SubStatus::Finished, &["Child received: Hello from parent"]);
}

#[test]
pub(crate) fn an_executed_child_is_waited_for() {
    let Some(mut it) = execute("parent-with-wait", "child-workflow") else {
        return;
    };
    let lines = [
        "Parent: Before child",
        "Child: Executing",
        "Parent: After child",
    ];
    it.start().shows(SubStatus::Finished, &lines);
}

#[test]
pub(crate) fn a_draft_uses_the_version_it_names() {
    let folder = "DependencyWorkflowsPublishing__Workflows__";
    let others = [format!("{folder}child.json")];
    let Some(it) = given(&format!("{folder}parent.json"), &[&others[0]]) else {
        return;
    };
    let parent = it.host.library.find("parent").unwrap();
    assert!(!parent.is_published);
    let graph = it
        .host
        .library
        .graph("parent", &it.host.expressions)
        .unwrap();
    assert_eq!(graph.bindings, [("child".to_owned(), 1)]);
    assert_eq!(graph.node(ROOT).type_name, "Elsa.Workflow");
}

#[test]
pub(crate) fn a_child_with_outcomes_finishes_its_parent() {
    let folder = "ParentChildCompletion__Workflows__";
    finishes(
        &format!("{folder}parent.json"),
        &[&format!("{folder}child.json")],
    );
}

fn parent_child_inputs(parent: &str) -> Option<Seen> {
    let folder = "ParentChildInputs__Workflows__";
    let mut it = given(
        &format!("{folder}{parent}.json"),
        &[&format!("{folder}child.json")],
    )?;
    Some(it.start_with(json!({ "Input1": "Foo" })))
}

#[test]
pub(crate) fn a_child_sees_what_it_was_given() {
    let Some(seen) = parent_child_inputs("parent1") else {
        return;
    };
    seen.shows(SubStatus::Finished, &["Parent: Foo", "Child: Bar"]);
}

#[test]
pub(crate) fn a_child_is_given_the_parents_input() {
    let Some(seen) = parent_child_inputs("parent2") else {
        return;
    };
    seen.shows(SubStatus::Finished, &["Parent: Foo", "Child: Foo"]);
}

fn definition_activities(name: &str) -> Option<Seen> {
    let folder = "WorkflowDefinitionActivities__Workflows__";
    finishes(
        &format!("{folder}parent-{name}.json"),
        &[&format!("{folder}child-{name}.json")],
    )
}

#[test]
pub(crate) fn an_activity_passes_its_input() {
    let Some(seen) = definition_activities("with-input") else {
        return;
    };
    assert!(
        seen.lines.contains(&"Hello from parent!".to_owned()),
        "{seen:#?}"
    );
}

#[test]
pub(crate) fn an_activity_ends_through_its_outcome() {
    let Some(seen) = definition_activities("with-outcomes") else {
        return;
    };
    assert!(
        seen.lines.contains(&"Success path taken".to_owned()),
        "{seen:#?}"
    );
}

#[test]
pub(crate) fn an_activitys_unbound_output_can_be_read() {
    let Some(seen) = definition_activities("with-output") else {
        return;
    };
    let line = "Received from child: Child output value".to_owned();
    assert!(seen.lines.contains(&line), "{seen:#?}");
}
