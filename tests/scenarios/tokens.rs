//! Flowcharts that pass tokens: what each merge mode waits for.

use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{decision, event, join, line};
use dormouse_tests::{Activity, Scenario, activity, finished, suspended, workflow};

fn scenario(root: Activity) -> Scenario {
    Scenario::of(&workflow("tokens", root))
}

fn merging(mode: &str) -> Activity {
    let target = line("T").custom("mergeMode", mode);
    flow("S>A>T; S>B>T; T>E", [target])
}

#[test]
fn two_live_branches_merge_into_one() {
    for mode in ["Merge", "Converge", "Stream", "None"] {
        let mut it = scenario(merging(mode));
        let lines = ["S", "A", "B", "T", "E"];
        it.start_with_tokens().is(finished().lines(&lines));
    }
}

#[test]
fn a_cascade_runs_for_the_first_and_blocks_the_other() {
    let mut it = scenario(merging("Cascade"));
    it.start_with_tokens()
        .is(finished().lines(&["S", "A", "B", "T", "E"]));
}

fn waiting(target: Activity) -> Scenario {
    let activities = [event("A"), event("B"), target.id("T")];
    scenario(flow("S>A>T; S>B>T; T>E", activities))
}

#[test]
fn a_merge_waits_for_both() {
    let mut it = waiting(line("T").custom("mergeMode", "Merge"));
    it.start_with_tokens()
        .is(suspended(&["A", "B"]).lines(&["S"]));
    it.resume("B").is(suspended(&["A"]));
    it.resume("A").is(finished().lines(&["T", "E"]));
}

#[test]
fn a_race_cancels_the_one_that_still_waits() {
    let mut it = waiting(line("T").custom("mergeMode", "Race"));
    it.start_with_tokens()
        .is(suspended(&["A", "B"]).lines(&["S"]));
    it.resume("B").is(finished().lines(&["T", "E"]));
}

#[test]
fn a_join_of_any_is_a_race_and_one_of_all_a_merge() {
    let mut it = waiting(join("WaitAny"));
    it.start_with_tokens();
    it.resume("A").is(finished().lines(&["E"]));
    let mut it = waiting(join("WaitAll"));
    it.start_with_tokens();
    it.resume("A").is(suspended(&["B"]));
    it.resume("B").is(finished().lines(&["E"]));
}

/// Two branches to `T`, one of which is dead.
fn dead(mode: &str, edges: &str) -> Scenario {
    let activities = [decision(false).id("D"), line("T").custom("mergeMode", mode)];
    scenario(flow(edges, activities))
}

#[test]
fn a_merge_is_blocked_by_a_dead_branch_and_a_stream_is_not() {
    let edges = "S>D; S>A>T; D:True>T";
    // As in Elsa, the token that waits at the merge keeps the flowchart open, though nothing will come.
    let mut it = dead("Merge", edges);
    it.start_with_tokens().is(suspended(&[]).lines(&["S", "A"]));
    let mut it = dead("Stream", edges);
    it.start_with_tokens()
        .is(finished().lines(&["S", "A", "T"]));
}

#[test]
fn a_stream_is_blocked_by_a_branch_that_dies_after_the_token_has_come() {
    // As recorded from Elsa (`flow/fuzz-7-0106`): nobody looks at the token again when the branch is dead.
    for mode in ["Merge", "Stream"] {
        let mut it = dead(mode, "S>A>T; S>D; D:True>T");
        it.start_with_tokens().is(suspended(&[]).lines(&["S", "A"]));
    }
}

#[test]
fn a_cancelled_activity_loses_its_tokens() {
    let activities = [event("A"), event("B")];
    let mut it = scenario(flow("S>A>C; S>B>D", activities));
    it.start_with_tokens()
        .is(suspended(&["A", "B"]).lines(&["S"]));
    it.cancel_activity("A").is(suspended(&["B"]));
    it.resume("B").is(finished().lines(&["D"]));
}

#[test]
fn an_end_ends_the_flowchart() {
    let activities = [event("Wait"), activity("Elsa.End").id("End")];
    let mut it = scenario(flow("S>Wait; S>A>End", activities));
    it.start_with_tokens().is(finished().lines(&["S", "A"]));
}
