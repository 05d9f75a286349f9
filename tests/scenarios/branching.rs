//! One way or the other, or several at once.

use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{
    case, decision, event, fork, if_, line, parallel, sequence, switch, write,
};
use dormouse_tests::{Activity, Scenario, activity, finished, js, object, suspended, workflow};
use serde_json::{Value, json};

fn scenario(root: Activity) -> Scenario {
    Scenario::of(&workflow("branching", root))
}

#[test]
fn if_runs_the_branch_of_its_condition() {
    let root = |is| if_(is, line("Then")).id("If").port("else", line("Else"));
    scenario(root(true)).start().is(finished()
        .lines(&["Then"])
        .journal("Workflow1+ If+ Then+ Then- If- Workflow1-"));
    scenario(root(false)).start().is(finished()
        .lines(&["Else"])
        .journal("Workflow1+ If+ Else+ Else- If- Workflow1-"));
}

#[test]
fn if_without_the_branch_is_done() {
    let journal = "Workflow1+ If+ If- Workflow1-";
    scenario(if_(false, line("Then")).id("If"))
        .start()
        .is(finished().journal(journal));
}

#[test]
fn if_gives_its_condition_as_a_result() {
    let root = if_(js("1 < 2"), line("Then")).bind("result", "Out");
    Scenario::of(&workflow("branching", root).output("Out", "Boolean"))
        .start()
        .is(finished().lines(&["Then"]).output("Out", true));
}

fn cases() -> Vec<Value> {
    vec![
        case("No", js("setSeen('no'); return false"), Some(line("No"))),
        case("First", true, Some(line("First"))),
        case(
            "Second",
            js("setSeen(getSeen() + ' second'); return true"),
            Some(line("Second")),
        ),
    ]
}

fn switched(mode: &str) -> Scenario {
    let switch = switch(mode, cases()).port("default", line("Default"));
    let root = sequence([switch, write(js("getSeen()"))]);
    Scenario::of(&workflow("branching", root).variable("seen", "String", ""))
}

#[test]
fn switch_runs_the_first_match_though_it_looks_at_all() {
    switched("MatchFirst")
        .start()
        .is(finished().lines(&["First", "no second"]));
}

#[test]
fn switch_runs_every_match() {
    switched("MatchAny")
        .start()
        .is(finished().lines(&["First", "Second", "no second"]));
}

#[test]
fn switch_without_a_match_runs_its_default() {
    let none = || vec![case("No", false, Some(line("No")))];
    let with_default = switch("MatchFirst", none()).port("default", line("Default"));
    scenario(with_default)
        .start()
        .is(finished().lines(&["Default"]));
    scenario(switch("MatchFirst", none()))
        .start()
        .is(finished());
    let empty = switch("MatchFirst", vec![case("Yes", true, None)]);
    scenario(empty.port("default", line("Default")))
        .start()
        .is(finished());
}

#[test]
fn parallel_waits_for_all_its_children() {
    let mut it = scenario(parallel([event("A"), event("B"), line("C")]).id("All"));
    it.start().is(suspended(&["A", "B"])
        .lines(&["C"])
        .journal("Workflow1+ All+ A+ A~ B+ B~ C+ C-"));
    it.resume("B").is(suspended(&["A"]).journal("B> B-"));
    it.resume("A")
        .is(finished().journal("A> A- All- Workflow1-"));
}

#[test]
fn a_fork_for_any_cancels_what_still_waits() {
    let mut it = scenario(fork("WaitAny", [event("A"), event("B")]).id("Fork"));
    it.start()
        .is(suspended(&["A", "B"]).journal("Workflow1+ Fork+ A+ A~ B+ B~"));
    it.resume("B")
        .is(finished().journal("B> B- Ax Fork- Workflow1-"));
}

#[test]
fn a_decision_follows_one_port() {
    let root = |is_true| {
        let edges = "Decision:True>Yes; Decision:False>No";
        flow(edges, [decision(is_true).id("Decision")]).id("Flow")
    };
    scenario(root(true)).start().is(finished()
        .lines(&["Yes"])
        .journal("Workflow1+ Flow+ Decision+ Decision-True Yes+ Yes- Flow- Workflow1-"));
    scenario(root(false)).start().is(finished()
        .lines(&["No"])
        .journal("Workflow1+ Flow+ Decision+ Decision-False No+ No- Flow- Workflow1-"));
}

#[test]
fn a_fork_by_names_follows_each() {
    let root = |names: Value| {
        let fork = activity("Elsa.FlowFork")
            .id("Fork")
            .input("branches", object(names));
        flow("Fork:A>Left; Fork:B>Right; Fork>Neither", [fork])
    };
    scenario(root(json!(["A", "B"])))
        .start()
        .is(finished().lines(&["Left", "Right"]));
    // A list without names leads nowhere, not even to what follows `Done`.
    scenario(root(json!([]))).start().is(finished());
    scenario(root(Value::Null))
        .start()
        .is(finished().lines(&["Neither"]));
}

#[test]
fn a_container_in_a_flowchart_passes_on_how_its_body_ended() {
    let node = activity("Elsa.FlowNode")
        .id("Node")
        .port("body", event("Wait"));
    let mut it = scenario(flow("Node>After", [node]));
    it.start().is(suspended(&["Wait"]));
    it.resume("Wait").is(finished().lines(&["After"]));
}
