//! When a burst is saved, and that it does not matter to what happens.

use dormouse_tests::primitives::{line, sequence};
use dormouse_tests::{Activity, Scenario, Workflow, finished, workflow};

fn three() -> Activity {
    sequence([line("A"), line("B"), line("C")])
}

fn commits(definition: &Workflow) -> usize {
    let mut it = Scenario::of(definition);
    it.start().is(finished().lines(&["A", "B", "C"]));
    it.host.kept(it.id()).unwrap().commits
}

fn with_strategy(name: &str) -> usize {
    commits(&workflow("commits", three()).option("commitStrategyName", name))
}

#[test]
fn without_a_strategy_a_burst_is_saved_once() {
    assert_eq!(commits(&workflow("commits", three())), 1);
    assert_eq!(with_strategy("Unknown"), 1);
    assert_eq!(with_strategy("WorkflowExecuted"), 1);
}

#[test]
fn a_strategy_saves_before_the_workflow() {
    assert_eq!(with_strategy("WorkflowExecuting"), 2);
}

#[test]
fn a_strategy_saves_around_each_activity() {
    // Five activities: the workflow, the sequence and three lines.
    assert_eq!(with_strategy("ActivityExecuting"), 5);
    assert_eq!(with_strategy("ActivityExecuted"), 5);
}

#[test]
fn an_activity_may_be_saved_though_the_workflow_is_not() {
    let marked = |strategy: &str| {
        let middle = line("B").custom("commitStrategyName", strategy);
        commits(&workflow(
            "commits",
            sequence([line("A"), middle, line("C")]),
        ))
    };
    assert_eq!(marked("Executing"), 2);
    assert_eq!(marked("Executed"), 2);
    assert_eq!(marked("CommitAlways"), 3);
}

#[test]
fn an_activity_may_be_left_out_of_the_workflows_strategy() {
    let never = |activity: Activity| activity.custom("commitStrategyName", "CommitNever");
    let root = never(sequence(["A", "B", "C"].map(line).map(never)));
    let definition = workflow("commits", root).option("commitStrategyName", "ActivityExecuted");
    // Only the implicit workflow activity is left to be saved after.
    assert_eq!(commits(&definition), 2);
}

#[test]
fn a_long_burst_is_saved_on_the_way() {
    let mut it = Scenario::of(&workflow("commits", three()));
    it.host.limits.step_activities_max = 2;
    it.start().is(finished().lines(&["A", "B", "C"]));
    assert_eq!(it.host.kept(it.id()).unwrap().commits, 3);
}
