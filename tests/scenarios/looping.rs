//! Again and again.

use dormouse_engine::step::Stimulus;
use dormouse_tests::primitives::{
    break_, event, for_, for_each, line, parallel_for_each, sequence, set, while_, write,
};
use dormouse_tests::{
    Activity, Scenario, activity, finished, js, object, suspended, variable, workflow,
};
use serde_json::{Map, json};

fn scenario(root: Activity) -> Scenario {
    Scenario::of(&workflow("looping", root).variable("n", "Int32", 0))
}

fn current() -> Activity {
    write(js("`${getCurrentIndex()} ${getCurrentValue()}`"))
}

#[test]
fn while_asks_before_each_round() {
    let steps = [
        set("n", js("getN() + 1")).id("Set"),
        write(variable("n")).id("Write"),
    ];
    let root = while_(js("getN() < 2"), sequence(steps).id("Body")).id("While");
    scenario(root)
        .start()
        .is(finished().lines(&["1", "2"]).journal(
        "Workflow1+ While+ Body+ Set+ Set- Write+ Write- Body- Body+ Set+ Set- Write+ Write- Body-
         While- Workflow1-",
    ));
}

#[test]
fn while_that_is_false_at_once_does_nothing() {
    scenario(while_(false, line("Never")))
        .start()
        .is(finished());
}

fn count(start: i64, end: i64, step: i64, is_inclusive: bool) -> Vec<String> {
    let root = for_(start, end, write(js("String(getCurrentValue())")))
        .input("step", step)
        .input("outerBoundInclusive", is_inclusive);
    scenario(root).start().lines
}

#[test]
fn for_counts_in_either_direction() {
    assert_eq!(count(1, 3, 1, true), ["1", "2", "3"]);
    assert_eq!(count(1, 3, 1, false), ["1", "2"]);
    assert_eq!(count(5, 1, -2, true), ["5", "3", "1"]);
    assert!(count(3, 1, 1, true).is_empty());
}

#[test]
fn a_loop_without_a_body_is_done() {
    for kind in ["Elsa.For", "Elsa.ForEach", "Elsa.ParallelForEach"] {
        let items = object(json!([1, 2]));
        let root = activity(kind).input("end", 3_i64).input("items", items);
        scenario(sequence([root, line("After")]))
            .start()
            .is(finished().lines(&["After"]));
    }
}

#[test]
fn for_each_keeps_its_place_while_it_waits() {
    let body = sequence([event("Go"), current()]);
    let mut it = scenario(for_each(object(json!(["a", "b"])), body));
    it.start().is(suspended(&["Go"]));
    it.resume("Go").is(suspended(&["Go"]).lines(&["0 a"]));
    it.resume("Go").is(finished().lines(&["1 b"]));
}

#[test]
fn each_round_of_a_parallel_loop_keeps_its_own_item() {
    let body = sequence([event("Go"), current()]);
    let mut it = scenario(parallel_for_each(object(json!(["a", "b", "c"])), body));
    it.start().is(suspended(&["Go", "Go", "Go"]));
    it.resume("Go").is(suspended(&["Go", "Go"]).lines(&["0 a"]));
    let last = it.instance().bookmarks[1].id.clone();
    let stimulus = Stimulus::Resume {
        bookmark: last,
        input: Map::new(),
    };
    it.when(|host, id| assert!(host.step(id, stimulus)))
        .is(suspended(&["Go"]).lines(&["2 c"]));
    it.resume("Go").is(finished().lines(&["1 b"]));
}

#[test]
fn an_inner_loop_hides_the_value_of_the_outer_one() {
    let inner = for_each(object(json!(["x"])), current());
    let root = for_each(object(json!(["a", "b"])), sequence([inner, current()]));
    scenario(root)
        .start()
        .is(finished().lines(&["0 x", "0 a", "0 x", "1 b"]));
}

#[test]
fn break_ends_the_loop_around_it() {
    let body = sequence([current(), break_(), line("Never")]);
    scenario(sequence([
        for_each(object(json!(["a", "b"])), body),
        line("After"),
    ]))
    .start()
    .is(finished().lines(&["0 a", "After"]));
}

#[test]
fn a_loop_that_runs_again_begins_anew() {
    let inner = for_each(object(json!(["a", "b"])), current());
    let lines = ["0 a", "1 b", "0 a", "1 b"];
    scenario(for_(1, 2, inner))
        .start()
        .is(finished().lines(&lines));
}

#[test]
fn for_each_gives_its_item_to_a_bound_variable() {
    let root = for_each(object(json!([7, 8])), write(variable("n"))).bind("currentValue", "n");
    scenario(root).start().is(finished().lines(&["7", "8"]));
}
