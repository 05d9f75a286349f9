//! Elsa's flowchart graphs: what runs, in which order, and when a join fires.

use dormouse_engine::instance::SubStatus;
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{case, decision, flow_switch, join, line, set, write};
use dormouse_tests::{Activity, Scenario, Seen, activity, faulted, finished, js, object, workflow};
use serde_json::json;

/// Runs a flowchart with a counter `n` from 0, counting visits.
fn run(root: Activity) -> Seen {
    Scenario::of(&workflow("flow", root).variable("n", "Int32", 0)).start()
}

/// The same, passing tokens.
fn run_with_tokens(root: Activity) -> Seen {
    Scenario::of(&workflow("flow", root).variable("n", "Int32", 0)).start_with_tokens()
}

/// `n = n + 1`.
fn increment(id: &str) -> Activity {
    set("n", js("getN() + 1")).id(id)
}

fn start() -> Activity {
    activity("Elsa.Start").id("Start")
}

fn end() -> Activity {
    activity("Elsa.End").id("End")
}

#[test]
pub(crate) fn an_outcome_that_is_not_produced_leads_nowhere() {
    run(flow("Line 1:Failed>Line 2", [])).is(finished().lines(&["Line 1"]));
}

#[test]
pub(crate) fn a_dangling_activity_does_not_block_the_join_of_a_loop() {
    let few = case("LessThanThree", js("getN() < 3"), None);
    let cases = vec![
        case("EqualOne", js("getN() == 1"), None),
        case("LessThanFour", js("getN() < 4"), None),
        case("EqualThree", js("getN() == 3"), None),
    ];
    let edges = "Start>sw; dangling>sw; sw:LessThanThree>A; sw:LessThanThree>B; sw:Default>inc;
        A>inc; B>inc; inc>lb; lb:EqualOne>D>inc; lb:LessThanFour>E>sw; lb:EqualThree>F>End";
    let activities = [
        start(),
        flow_switch("MatchAny", vec![few]).id("sw"),
        increment("inc"),
        flow_switch("MatchAny", cases).id("lb"),
        end(),
    ];
    let lines = ["A", "B", "D", "E", "A", "B", "E", "E", "F"];
    run(flow(edges, activities)).is(finished().lines(&lines));
}

#[test]
pub(crate) fn a_connection_back_to_what_does_not_lie_on_every_way_is_refused() {
    let edges = "Start>WriteLineA>WriteLineB; WriteLineB>WriteLineC; WriteLineB>WriteLineD;
        WriteLineC>WriteLineE; WriteLineD>WriteLineE; WriteLineE>WriteLineC";
    let lines = ["A", "B", "C", "D", "E"];
    let writes = lines.map(|text| write(text).id(&format!("WriteLine{text}")));
    let message = "Invalid backward connection: Every path from the source ('WriteLineE') must go \
        through the target ('WriteLineC') when tracing back to the start.";
    run(flow(edges, std::iter::once(start()).chain(writes))).is(faulted(&[message]).lines(&lines));
}

#[test]
pub(crate) fn a_join_inside_a_loop_fires_once_in_every_round() {
    for mode in ["WaitAll", "WaitAllActive", "WaitAny"] {
        let edges = "Start>A; A>B; A>C; A>D; B>Join; C>Join; D>Join; Join>inc>switch;
            switch:Again>A; switch:Default>End";
        let again = case("Again", js("getN() < 3"), None);
        let switch = flow_switch("MatchFirst", vec![again]).id("switch");
        let activities = [
            start(),
            join(mode).id("Join"),
            increment("inc"),
            switch,
            end(),
        ];
        let lines = ["A", "B", "C", "D"].repeat(3);
        run(flow(edges, activities)).is(finished().lines(&lines));
    }
}

#[test]
pub(crate) fn a_join_that_leads_back_lets_every_round_begin() {
    for mode in ["WaitAll", "WaitAllActive", "WaitAny"] {
        let edges = "Start>sw; sw:DoLoopback>A; sw:DoLoopback>inc; sw:Default>B;
            A>Join; inc>Join; Join>sw; B>End";
        let again = case("DoLoopback", js("getN() < 3"), None);
        let switch = flow_switch("MatchFirst", vec![again]).id("sw");
        let activities = [
            start(),
            switch,
            increment("inc"),
            join(mode).id("Join"),
            end(),
        ];
        run(flow(edges, activities)).is(finished().lines(&["A", "A", "A", "B"]));
    }
}

/// Start forks into A, B and C; a decision after A leads past the join or to it.
fn crossing(mode: &str, is_true: bool) -> Activity {
    let edges = "Start>A; Start>B; Start>C; A>Decision; Decision:True>Join; Decision:False>D;
        B>Join; C>Join; D>F; Join>E; E>F";
    flow(
        edges,
        [
            start(),
            decision(is_true).id("Decision"),
            join(mode).id("Join"),
        ],
    )
}

#[test]
pub(crate) fn a_branch_that_goes_elsewhere_holds_up_only_a_join_of_all() {
    run(crossing("WaitAll", false)).is(finished().lines(&["A", "B", "C", "D", "F"]));
    for mode in ["WaitAllActive", "WaitAny"] {
        run(crossing(mode, false)).is(finished().lines(&["A", "B", "C", "D", "E", "F"]));
    }
}

#[test]
pub(crate) fn a_join_that_all_branches_reach_fires_in_every_mode() {
    for mode in ["WaitAll", "WaitAllActive", "WaitAny"] {
        run(crossing(mode, true)).is(finished().lines(&["A", "B", "C", "E", "F"]));
    }
}

#[test]
pub(crate) fn tokens_pass_a_braid_in_order() {
    let edges = "1>2; 1>3; 2>4; 2>5; 3>5; 3>6; 4>7; 5>7; 6>7";
    let lines = ["1", "2", "3", "4", "5", "6", "7"];
    run_with_tokens(flow(edges, [])).is(finished().lines(&lines));
}

#[test]
pub(crate) fn tokens_go_round_a_loop() {
    let edges = "Start>inc>dec; dec:False>Retry>inc; dec:True>End";
    let activities = [increment("inc"), decision(js("getN() > 1")).id("dec")];
    run_with_tokens(flow(edges, activities)).is(finished().lines(&["Start", "Retry", "End"]));
}

#[test]
pub(crate) fn an_empty_flowchart_is_done_at_once() {
    run(flow("", [])).is(finished());
    run_with_tokens(flow("", [])).is(finished());
}

#[test]
pub(crate) fn a_single_activity_needs_no_connection() {
    run(flow("", [line("Alone")])).is(finished().lines(&["Alone"]));
}

#[test]
pub(crate) fn what_is_not_connected_to_the_start_does_not_run() {
    run(flow("Start>Next", [line("Apart")])).is(finished().lines(&["Start", "Next"]));
}

/// A fork into two outcomes that come together again.
fn forked(mode: &str) -> Activity {
    let branches = object(json!(["Branch1", "Branch2"]));
    let fork = activity("Elsa.FlowFork")
        .id("Fork")
        .input("branches", branches);
    let edges = "Fork:Branch1>One>Join; Fork:Branch2>Two>Join; Join>After";
    flow(edges, [fork, join(mode).id("Join")])
}

#[test]
pub(crate) fn a_fork_by_outcomes_joins_again() {
    run(forked("WaitAll")).is(finished().lines(&["One", "Two", "After"]));
    run_with_tokens(forked("WaitAll")).is(finished().lines(&["One", "Two", "After"]));
    // Both branches were queued before the first one reached the join.
    run_with_tokens(forked("WaitAny")).is(finished().lines(&["One", "Two", "After"]));
    let any = run(forked("WaitAny"));
    assert_eq!(any.sub_status, SubStatus::Finished);
    assert_eq!(any.lines.last().map(String::as_str), Some("After"));
    assert!(
        any.lines.len() >= 2,
        "at least one branch runs: {:?}",
        any.lines
    );
}

#[test]
pub(crate) fn a_flowchart_inside_a_flowchart_takes_its_turn() {
    let inner = flow("Inner 1>Inner 2", []).id("Inner");
    let lines = ["Before", "Inner 1", "Inner 2", "After"];
    run(flow("Before>Inner>After", [inner])).is(finished().lines(&lines));
}
