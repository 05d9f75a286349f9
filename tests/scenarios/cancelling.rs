//! Cancelling an instance, a branch, an activity.

use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{event, fault, fork, join, line, parallel, sequence};
use dormouse_tests::{Activity, Scenario, cancelled, faulted, finished, suspended, workflow};
use serde_json::json;

fn scenario(root: Activity) -> Scenario {
    Scenario::of(&workflow("cancelling", root))
}

#[test]
fn a_cancelled_instance_drops_everything() {
    let branches = [event("A"), sequence([event("B"), line("Never")])];
    let mut it = scenario(parallel(branches).id("All"));
    it.start();
    // As in Elsa, the journal of an instance that is cancelled as a whole says nothing of it.
    it.cancel().is(cancelled().journal(""));
    assert!(it.instance().contexts.is_empty());
    assert!(it.instance().finished_at.is_some());
}

#[test]
fn what_has_ended_cannot_be_cancelled() {
    let mut it = scenario(line("A"));
    it.start().is(finished().lines(&["A"]));
    it.cancel().is(finished());
    let mut it = scenario(fault("broken"));
    it.start().is(faulted(&["broken"]));
    it.cancel().is(faulted(&["broken"]));
}

#[test]
fn a_cancelled_branch_of_a_flowchart_leads_nowhere() {
    let edges = "Start>A>After A; Start>B>After B; After A>End; After B>End";
    let mut it = scenario(flow(edges, [event("A"), event("B")]));
    it.start().is(suspended(&["A", "B"]).lines(&["Start"]));
    it.cancel_activity("A").is(suspended(&["B"]).journal("Ax"));
    it.resume("B").is(finished().lines(&["After B", "End"]));
}

#[test]
fn a_join_of_any_cancels_the_branches_that_still_wait() {
    let activities = [event("A"), event("B"), join("WaitAny").id("Join")];
    let mut it = scenario(flow("Start>A>Join; Start>B>Join; Join>End", activities));
    it.start().is(suspended(&["A", "B"]).lines(&["Start"]));
    it.resume("B").is(finished()
        .lines(&["End"])
        .journal("B> B- Ax Join+ Join- End+ End- Flowchart1- Workflow1-"));
}

#[test]
fn cancelling_the_only_activity_of_a_flowchart_ends_it() {
    let mut it = scenario(sequence([flow("A>After", [event("A")]), line("Next")]));
    it.start();
    it.cancel_activity("A").is(finished()
        .lines(&["Next"])
        .journal("Ax Flowchart1- Next+ Next- Sequence1- Workflow1-"));
}

#[test]
fn cancelling_one_child_of_a_parallel_leaves_the_others() {
    let mut it = scenario(sequence([
        parallel([event("A"), event("B")]),
        line("After"),
    ]));
    it.start();
    it.cancel_activity("A").is(suspended(&["B"]).journal("Ax"));
    it.resume("B").is(finished().lines(&["After"]));
}

#[test]
fn cancelling_a_container_cancels_all_inside_it() {
    let inner = parallel([event("A"), event("B")]).id("Inner");
    let mut it = scenario(fork("WaitAll", [inner, event("C")]).id("Fork"));
    it.start()
        .is(suspended(&["C", "A", "B"]).journal("Workflow1+ Fork+ Inner+ C+ C~ A+ A~ B+ B~"));
    it.cancel_activity("Inner")
        .is(suspended(&["C"]).journal("Ax Bx Innerx"));
}

#[test]
fn cancelling_an_activity_that_does_not_run_changes_nothing() {
    let mut it = scenario(sequence([event("A"), event("B")]));
    it.start();
    it.cancel_activity("B").is(suspended(&["A"]));
    it.cancel_activity("nobody").is(suspended(&["A"]));
}

#[test]
fn an_event_for_a_cancelled_instance_finds_nobody() {
    let mut it = scenario(event("A"));
    it.start();
    it.cancel().is(cancelled());
    it.event("A", json!(1)).is(cancelled());
}
