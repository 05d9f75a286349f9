//! Sagas: what has completed is undone in reverse order, each once, whatever happens meanwhile.

use dormouse_engine::instance::SubStatus;
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{
    event, for_each, fork, line, parallel, parallel_for_each, sequence, task, throw, try_catch,
    write,
};
use dormouse_tests::{
    Activity, Scenario, activity, cancelled, faulted, finished, js, object, suspended, workflow,
};
use serde_json::json;

fn played(root: Activity) -> Scenario {
    Scenario::of(&workflow("saga", root))
}

/// Writes its id, and is undone by one that writes it too.
fn step(id: &str) -> Activity {
    line(id).custom("compensate", write(js("`-${getUndo().activityId}`")).json())
}

/// Writes its id, and its undo waits for somebody.
fn slow(id: &str, undo: &str) -> Activity {
    line(id).custom("compensate", event(undo).json())
}

fn scope(activities: impl IntoIterator<Item = Activity>, on: &str) -> Activity {
    sequence(activities).custom("compensateOn", on)
}

#[test]
fn a_saga_undoes_in_reverse_and_tells_so_in_the_journal() {
    let undo = write(js("`-${getUndo().activityId}`")).id("Undo").json();
    let body = sequence([line("A").custom("compensate", undo), throw("Bad").id("Bad")]);
    let body = body.id("Scope").custom("compensateOn", json!(["fault"]));
    played(try_catch(body, line("Caught")).id("Try")).start().is(finished()
        .lines(&["A", "-A", "Caught"])
        .journal("Workflow1+ Try+ Scope+ A+ A- Bad+ Bad! Scope< Undo+ Undo- Scope! Caught+ Caught- Try- Workflow1-"));
}

#[test]
fn an_undo_of_a_flowchart_is_named_and_waits_for_its_worker() {
    let root = flow(
        "Reserve>Both; Charge>Both; Start>Reserve; Start>Charge",
        [
            task("Reserve").custom("compensate", "Release"),
            task("Charge").custom("compensate", "Refund"),
            throw("Bad").id("Both"),
            task("Release"),
            task("Refund"),
        ],
    );
    let root = root.custom("compensateOn", json!(["fault"]));
    for tokens in [false, true] {
        let mut it = played(try_catch(root.clone(), line("Caught")));
        let seen = if tokens {
            it.start_with_tokens()
        } else {
            it.start()
        };
        assert_eq!(seen.sub_status, SubStatus::Suspended);
        it.task_done("Charge", json!({}));
        it.task_done("Reserve", json!({}));
        // Released first: it was reserved last.
        it.task_done("Release", json!({}));
        it.task_done("Refund", json!({}))
            .is(finished().lines(&["Caught"]));
    }
}

#[test]
fn each_round_of_a_loop_is_undone_with_what_it_was_given() {
    let item = write(js("getCurrentValue()")).custom(
        "compensate",
        write(js("`-${getUndo().inputs.text}`")).json(),
    );
    for body in [
        for_each(object(json!(["a", "b"])), item.clone()),
        parallel_for_each(object(json!(["a", "b"])), item),
    ] {
        let root = scope([body, throw("Bad")], "fault");
        played(root)
            .start()
            .is(faulted(&["Bad was raised"]).lines(&["a", "b", "-b", "-a"]));
    }
}

#[test]
fn a_cancellation_during_a_compensation_waits_for_it() {
    let body = scope([step("A"), slow("B", "Slow"), throw("Bad")], "fault");
    let mut it = played(parallel([try_catch(body, line("Never")), event("Else")]));
    it.start()
        .is(suspended(&["Else", "Slow"]).lines(&["A", "B"]));
    it.cancel().is(suspended(&["Slow"]));
    it.cancel().is(suspended(&["Slow"]));
    it.resume("Slow").is(cancelled().lines(&["-A"]));
}

#[test]
fn an_undo_that_fails_is_tried_again_and_the_rest_follows() {
    let undo = task("Undo").json();
    let body = scope(
        [
            step("A"),
            line("B").custom("compensate", undo),
            step("C"),
            throw("Bad"),
        ],
        "fault",
    );
    let mut it = played(try_catch(body, line("Caught")));
    it.start();
    let broken = json!({ "is": "answered", "answer": { "error": { "type": "Busy", "message": "not now" } } });
    it.resume_with("Undo", json!({ "Task": broken }))
        .is(faulted(&["not now"]));
    it.retry();
    it.task_done("Undo", json!({}))
        .is(finished().lines(&["-A", "Caught"]));
}

#[test]
fn a_branch_that_lost_undoes_apart_and_the_workflow_waits_for_it_at_its_end() {
    let lost = scope([slow("A", "Slow"), event("Wait")], "cancel");
    let race = fork("WaitAny", [lost, event("First")]);
    let mut it = played(sequence([race, line("After")]));
    it.start();
    it.resume("First")
        .is(suspended(&["Slow"]).lines(&["After"]));
    it.resume("Slow").is(finished());
}

#[test]
fn an_instance_that_faults_elsewhere_completes_the_compensation_under_way() {
    let body = scope([step("A"), slow("B", "Slow"), throw("One")], "fault");
    let other = sequence([event("Go"), throw("Two")]);
    let mut it = played(parallel([body, other]));
    it.start();
    it.resume("Go")
        .is(suspended(&["Slow"]).incidents(&["Two was raised"]));
    it.resume("Slow")
        .is(faulted(&["Two was raised", "One was raised"]).lines(&["-A"]));
}

#[test]
fn a_timeout_of_a_scope_undoes_what_it_had_done() {
    let root = scope([step("A"), event("Wait")], "fault").custom("timeout", 60_000);
    let mut it = played(try_catch(root, write(js("getError().type"))));
    it.start();
    it.after("00:01:00")
        .is(finished().lines(&["-A", "Timeout"]));
}

#[test]
fn a_compensate_in_a_catch_undoes_the_body_of_its_try() {
    let body = sequence([step("A"), sequence([step("B"), throw("Bad")])]);
    let catch = sequence([activity("Dormouse.Compensate"), line("Caught")]);
    played(sequence([step("Before"), try_catch(body, catch)]))
        .start()
        .is(finished().lines(&["Before", "A", "B", "-B", "-A", "Caught"]));
}
