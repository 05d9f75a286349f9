//! Flowcharts: where they begin, what they follow, when they end.

use dormouse_engine::instance::Start;
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{decision, event, join, line, sequence, set};
use dormouse_tests::{Activity, Scenario, activity, finished, js, suspended, workflow};
use serde_json::{Value, json};

fn scenario(root: Activity) -> Scenario {
    Scenario::of(&workflow("flowcharts", root).variable("n", "Int32", 0))
}

#[test]
fn it_begins_at_a_start_wherever_that_is() {
    let activities = [line("A"), activity("Elsa.Start").id("Start")];
    scenario(flow("A>B; Start>C", activities))
        .start()
        .is(finished().lines(&["C"]));
}

#[test]
fn else_it_begins_where_a_workflow_may_be_started() {
    let activities = [line("A"), line("B").trigger()];
    scenario(flow("A>C; B>D", activities))
        .start()
        .is(finished().lines(&["B", "D"]));
}

#[test]
fn else_it_begins_at_what_nothing_leads_to() {
    scenario(flow("B>C; C>B; A>B", [])).start();
    let root = flow("C>B; A>C", []);
    scenario(root)
        .start()
        .is(finished().lines(&["A", "C", "B"]));
}

#[test]
fn it_begins_at_the_activity_that_was_triggered() {
    let trigger = |id: &str| event(id).trigger();
    let mut it = scenario(flow("One>A; Two>B", [trigger("One"), trigger("Two")]));
    let start = Start {
        trigger_activity_id: Some("Two".into()),
        ..Start::default()
    };
    it.start_as(start).is(finished().lines(&["B"]));
}

#[test]
fn the_start_property_is_not_read() {
    let root = flow("A>B", [line("C")]).set("start", "C");
    scenario(root).start().is(finished().lines(&["A", "B"]));
}

fn written(connections: Value) -> Vec<String> {
    let root = activity("Elsa.Flowchart")
        .children("activities", [line("A"), line("B")])
        .set("connections", connections);
    scenario(root).start().lines
}

#[test]
fn connections_are_read_in_every_spelling() {
    let new = json!({ "source": { "activity": "A", "port": "Done" }, "target": { "activity": "B", "port": "In" } });
    let pascal = json!({ "Source": { "Activity": "A", "Port": "Done" }, "Target": { "Activity": "B", "Port": "In" } });
    let old = json!({ "source": "A", "target": "B", "sourcePort": "Done", "targetPort": "In" });
    let short = json!({ "source": { "activity": "A" }, "target": { "activity": "B" } });
    for one in [new, pascal, old, short] {
        assert_eq!(written(json!([one])), ["A", "B"], "{one}");
        assert_eq!(written(json!({ "$values": [one] })), ["A", "B"], "{one}");
        assert_eq!(written(one.clone()), ["A", "B"], "{one}");
    }
    let dangling = json!([{ "source": { "activity": "A" }, "target": { "activity": "gone" } }]);
    assert_eq!(written(dangling), ["A"]);
}

#[test]
fn branches_take_turns_in_the_order_of_their_connections() {
    scenario(flow("A>C; A>B; A>D; C>E", []))
        .start()
        .is(finished().lines(&["A", "C", "B", "D", "E"]));
}

#[test]
fn an_activity_with_several_ways_in_waits_for_the_live_ones() {
    let activities = [event("X"), event("Y"), decision(false).id("Z")];
    let edges = "S>X>T; S>Y>T; S>Z; Z:True>T; T>U";
    let mut it = scenario(flow(edges, activities));
    it.start().is(suspended(&["X", "Y"]).lines(&["S"]));
    it.resume("Y").is(suspended(&["X"]));
    it.resume("X").is(finished().lines(&["T", "U"]));
}

#[test]
fn a_dead_branch_is_skipped_to_its_end() {
    let activities = [decision(true).id("D")];
    let edges = "D:True>A; D:False>B>C; A>E; C>E; E>F";
    scenario(flow(edges, activities))
        .start()
        .is(finished().lines(&["A", "E", "F"]));
}

#[test]
fn an_end_ends_the_flowchart_though_others_wait() {
    // As in Elsa, the journal has the flowchart's end twice: by the last of its branches, and by the `End`.
    let activities = [event("Wait"), activity("Elsa.End").id("End")];
    let root = sequence([flow("S>Wait; S>A>End", activities), line("Next")]);
    let mut it = scenario(root);
    it.start().is(finished().lines(&["S", "A", "Next"]).journal(
        "Workflow1+ Sequence1+ Flowchart1+ S+ S- Wait+ Wait~ A+ A- End+ End- Waitx Flowchart1- Flowchart1-
         Next+ Next- Sequence1- Workflow1-",
    ));
}

#[test]
fn a_loop_may_wait_in_every_round() {
    let activities = [
        event("Wait"),
        set("n", js("getN() + 1")).id("Set"),
        decision(js("getN() > 1")).id("D"),
    ];
    let mut it = scenario(flow("S>Wait>Set>D; D:False>Wait; D:True>E", activities));
    it.start().is(suspended(&["Wait"]).lines(&["S"]));
    it.resume("Wait").is(suspended(&["Wait"]));
    it.resume("Wait").is(finished().lines(&["E"]));
}

#[test]
fn a_join_of_all_is_passed_by_when_a_branch_is_dead() {
    let activities = [decision(false).id("D"), join("WaitAll").id("J")];
    let edges = "S>A>J; S>D; D:True>J; J>E";
    scenario(flow(edges, activities))
        .start()
        .is(finished().lines(&["S", "A"]));
}

#[test]
fn a_flowchart_inside_a_loop_counts_anew_in_every_round() {
    let inner = flow("A>C; B>C; S>A; S>B", [line("S")]);
    let root = dormouse_tests::primitives::for_(1, 2, inner);
    let lines = ["S", "A", "B", "C"].repeat(2);
    scenario(root).start().is(finished().lines(&lines));
}
