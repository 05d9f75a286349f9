//! Elsa's containers and loops: sequences, forks, loops, what leaves them, and what they do when a child fails.

use dormouse_engine::instance::SubStatus;
use dormouse_tests::primitives::{
    break_, complete, event, fault, finish, for_, for_each, fork, if_, line, parallel,
    parallel_for_each, sequence, set, while_, write,
};
use dormouse_tests::{
    Activity, Scenario, Seen, finished, js, literal, object, suspended, workflow,
};
use serde_json::{Value, json};

fn scenario(root: Activity) -> Scenario {
    Scenario::of(&workflow("containers", root))
}

fn run(root: Activity) -> Seen {
    scenario(root).start()
}

/// Writes the loop's value.
fn write_current() -> Activity {
    write(js("getVariable('CurrentValue')"))
}

#[test]
pub(crate) fn break_ends_a_sequence() {
    run(sequence([line("A"), break_(), line("B")])).is(finished().lines(&["A"]));
}

#[test]
pub(crate) fn break_inside_an_if_ends_the_sequence() {
    run(sequence([line("A"), if_(true, break_()), line("B")])).is(finished().lines(&["A"]));
}

#[test]
pub(crate) fn break_ends_every_sequence_it_passes() {
    let inner = sequence([
        line("Inner: Activity 1"),
        break_(),
        line("Inner: Activity 2"),
    ]);
    let lines = ["Outer: Start", "Inner: Activity 1"];
    run(sequence([line("Outer: Start"), inner, line("Outer: End")])).is(finished().lines(&lines));
}

#[test]
pub(crate) fn complete_ends_the_workflow() {
    run(sequence([line("A"), complete(&["Done"]), line("B")])).is(finished().lines(&["A"]));
}

#[test]
pub(crate) fn a_fork_runs_its_branches_in_order() {
    let branches = ["Branch 1", "Branch 2", "Branch 3"];
    run(fork("WaitAll", branches.map(line))).is(finished().lines(&branches));
}

#[test]
pub(crate) fn a_fork_that_waits_for_any_drops_the_others() {
    let branch = |n: u8| sequence([event(&format!("Event {n}")), line(&format!("Branch {n}"))]);
    let fork = fork("WaitAny", [branch(1), branch(2)]);
    let mut it = scenario(sequence([line("Start"), fork, line("End")]));
    it.start()
        .is(suspended(&["Event 1", "Event 2"]).lines(&["Start"]));
    it.resume("Event 2")
        .is(finished().lines(&["Branch 2", "End"]));
}

/// A line, a wait, another line.
fn resumed_branch(n: u8, then: impl IntoIterator<Item = Activity>) -> Activity {
    let steps = [
        line(&format!("Branch {n}")),
        event(&format!("Event {n}")),
        line(&format!("Branch {n} - Resumed")),
    ];
    sequence(steps.into_iter().chain(then))
}

#[test]
pub(crate) fn a_fork_that_waits_for_all_goes_on_after_the_last() {
    let fork = fork("WaitAll", [resumed_branch(1, []), resumed_branch(2, [])]);
    let mut it = scenario(sequence([line("Start"), fork, line("End")]));
    let lines = ["Start", "Branch 1", "Branch 2"];
    it.start()
        .is(suspended(&["Event 1", "Event 2"]).lines(&lines));
    it.resume("Event 1")
        .is(suspended(&["Event 2"]).lines(&["Branch 1 - Resumed"]));
    it.resume("Event 2")
        .is(finished().lines(&["Branch 2 - Resumed", "End"]));
}

#[test]
pub(crate) fn break_in_a_fork_leaves_the_loop_around_it() {
    let fork = fork(
        "WaitAll",
        [resumed_branch(1, [break_()]), resumed_branch(2, [])],
    );
    let body = while_(true, sequence([fork]));
    let mut it = scenario(sequence([line("Start"), body, line("End")]));
    let lines = ["Start", "Branch 1", "Branch 2"];
    it.start()
        .is(suspended(&["Event 1", "Event 2"]).lines(&lines));
    it.resume("Event 1")
        .is(finished().lines(&["Branch 1 - Resumed", "End"]));
}

#[test]
pub(crate) fn a_fork_without_branches_is_done_at_once() {
    run(sequence([fork("WaitAll", []), line("After")])).is(finished().lines(&["After"]));
    run(sequence([fork("WaitAny", []), line("After")])).is(finished().lines(&["After"]));
}

#[test]
pub(crate) fn break_leaves_the_inner_loop_only() {
    let stop = if_(js("getVariable('CurrentValue') === 'Functions'"), break_());
    let inner = for_each(
        object(json!(["Classes", "Functions", "Modules"])),
        sequence([stop, write_current()]),
    );
    let outer = for_each(
        object(json!(["C#", "Rust", "Go"])),
        sequence([write_current(), inner]),
    );
    let lines = ["C#", "Classes", "Rust", "Classes", "Go", "Classes"];
    run(outer).is(finished().lines(&lines));
}

#[test]
pub(crate) fn break_ends_every_kind_of_loop() {
    let body = || sequence([line("Once"), break_(), line("Never")]);
    let loops = [
        for_(1, 3, body()),
        while_(true, body()),
        for_each(object(json!([1, 2, 3])), body()),
    ];
    for one in loops {
        run(sequence([one, line("After")])).is(finished().lines(&["Once", "After"]));
    }
}

#[test]
pub(crate) fn a_loop_takes_items_of_any_kind() {
    let body = write(js("String(getVariable('CurrentIndex'))"));
    let items = object(json!(["a", 2, null, { "b": 1 }]));
    run(for_each(items, body)).is(finished().lines(&["0", "1", "2", "3"]));
}

#[test]
pub(crate) fn a_loop_sees_its_items_change() {
    let cases = [
        (json!(["a", "b", "c", "e"]), vec!["a", "b", "c", "e"]),
        (json!(["a", "b"]), vec!["a", "b"]),
        (json!(["a", "b", "d"]), vec!["a", "b", "d"]),
    ];
    for (changed, lines) in cases {
        let change = if_(
            js("getVariable('CurrentValue') === 'b'"),
            set("items", object(changed)),
        );
        let root = for_each(
            dormouse_tests::variable("items"),
            sequence([write_current(), change]),
        );
        let definition =
            workflow("containers", root).variable("items", "Object", json!(["a", "b", "c"]));
        Scenario::of(&definition)
            .start()
            .is(finished().lines(&lines));
    }
}

#[test]
pub(crate) fn a_loop_over_null_fails() {
    let mut it = scenario(for_each(js("null"), line("Never")).id("Loop"));
    let seen = it.start();
    seen.shows(SubStatus::Faulted, &[]);
    assert_eq!(it.instance().incidents.len(), 1);
    assert_eq!(it.instance().incidents[0].activity_id, "Loop");
}

#[test]
pub(crate) fn a_loop_whose_body_fails_stays_where_it_is() {
    let stop = if_(js("getVariable('CurrentIndex') === 2"), fault("third"));
    let root = for_each(
        object(json!(["a", "b", "c"])),
        sequence([stop, write_current()]),
    )
    .id("Loop");
    let mut it = Scenario::of(&workflow("containers", root).continue_with_incidents());
    it.start()
        .is(suspended(&[]).lines(&["a", "b"]).incidents(&["third"]));
    let kept = it.host.kept(it.id()).unwrap();
    let instance = kept.instance.clone();
    let is_loop = |c: &&dormouse_engine::instance::Context| kept.graph.node(c.node).id == "Loop";
    let context = instance
        .contexts
        .values()
        .find(is_loop)
        .expect("the loop has not ended");
    assert!(!context.is_faulted, "the loop itself is still running");
    assert_eq!(context.faults, 1);
}

#[test]
pub(crate) fn a_loop_waits_in_every_round() {
    let body = sequence([write_current(), event("Next")]);
    let mut it = scenario(for_each(object(json!(["a", "b", "c"])), body));
    it.start().is(suspended(&["Next"]).lines(&["a"]));
    it.resume("Next").is(suspended(&["Next"]).lines(&["b"]));
    it.resume("Next").is(suspended(&["Next"]).lines(&["c"]));
    it.resume("Next").is(finished());
}

#[test]
pub(crate) fn a_parallel_loop_over_nothing_is_done() {
    for items in [js("null"), object(json!([])), literal(Value::Null)] {
        let root = sequence([parallel_for_each(items, line("Never")), line("After")]);
        run(root).is(finished().lines(&["After"]));
    }
}

#[test]
pub(crate) fn a_parallel_loop_numbers_its_items() {
    let body = write(js("String(getVariable('CurrentIndex'))"));
    run(parallel_for_each(object(json!(["a", "b", "c"])), body))
        .is(finished().lines(&["0", "1", "2"]));
}

#[test]
pub(crate) fn parallel_runs_all_its_children() {
    let four = ["A", "B", "C", "D"];
    run(parallel(four.map(line))).is(finished().lines(&four));
    run(parallel([line("Only")])).is(finished().lines(&["Only"]));
    run(sequence([parallel([]), line("After")])).is(finished().lines(&["After"]));
    let nested = parallel([parallel([line("A"), line("B")]), parallel([line("C")])]);
    run(nested).is(finished().lines(&["A", "B", "C"]));
}

#[test]
pub(crate) fn finish_ends_everything() {
    run(sequence([line("A"), finish(), line("B")])).is(finished().lines(&["A"]));
    let waiting = || sequence([event("Never"), line("Resumed")]);
    run(fork(
        "WaitAll",
        [waiting(), sequence([line("A"), finish(), line("B")])],
    ))
    .is(finished().lines(&["A"]));
    let branches = [
        waiting(),
        waiting(),
        sequence([event("Now"), finish()]),
        waiting(),
    ];
    let mut it = scenario(sequence([fork("WaitAll", branches), line("Later")]));
    it.start()
        .is(suspended(&["Never", "Never", "Now", "Never"]));
    it.resume("Now").is(finished());
    let instance = it.instance();
    assert!(instance.queue.is_empty(), "nothing is queued");
    assert!(instance.contexts.is_empty(), "nobody is called back");
}
