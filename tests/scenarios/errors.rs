//! Errors that a workflow deals with: `TryCatch` and `Throw`, attempts, and ends in time.

use dormouse_engine::instance::SubStatus;
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{
    event, fault, line, parallel, parallel_for_each, run_js, sequence, task, throw, try_catch,
    write,
};
use dormouse_tests::{
    Activity, Scenario, activity, cancelled, faulted, finished, js, object, suspended, workflow,
};
use serde_json::json;

fn played(root: Activity) -> Scenario {
    Scenario::of(&workflow("errors", root))
}

#[test]
fn an_error_is_dealt_with_and_the_workflow_goes_on() {
    let body = sequence([throw("Payment.Declined").id("Pay"), line("Never")]);
    let it = try_catch(body, write(js("getError().type")).id("Tell")).id("Try");
    let it = it.port("finally", line("Last"));
    played(sequence([it, line("After")])).start().is(finished()
        .lines(&["Payment.Declined", "Last", "After"])
        .journal(
            "Workflow1+ Sequence1+ Try+ Sequence2+ Pay+ Pay! Sequence2x Tell+ Tell- Last+ Last- Try- After+ After- \
             Sequence1- Workflow1-",
        ));
}

#[test]
fn a_branch_that_waits_is_cancelled_before_the_catch_runs() {
    let body = flow(
        "Start>Wait; Start>Go>Bad",
        [event("Wait"), event("Go"), fault("bad").id("Bad")],
    );
    for tokens in [false, true] {
        let mut it = played(sequence([
            try_catch(body.clone(), event("Fix")),
            line("After"),
        ]));
        let seen = if tokens {
            it.start_with_tokens()
        } else {
            it.start()
        };
        seen.is(suspended(&["Wait", "Go"]).lines(&["Start"]));
        it.resume("Go").is(suspended(&["Fix"]));
        it.resume("Fix").is(finished().lines(&["After"]));
    }
}

#[test]
fn finally_may_wait_and_the_error_goes_outwards_after_it() {
    let inner = activity("Dormouse.TryCatch")
        .id("Inner")
        .port("body", throw("Lost"))
        .port("finally", event("Tidy"));
    let mut it = played(try_catch(inner, write(js("getError().message"))));
    it.start().is(suspended(&["Tidy"]));
    it.resume("Tidy").is(finished().lines(&["Lost was raised"]));
    let alone = activity("Dormouse.TryCatch")
        .id("Try")
        .port("body", throw("Lost"))
        .port("finally", event("Tidy"));
    let mut it = played(alone);
    it.start().is(suspended(&["Tidy"]));
    it.resume("Tidy").is(faulted(&["Lost was raised"]));
}

#[test]
fn a_workflow_used_as_an_activity_throws_to_the_one_that_uses_it() {
    let sub = workflow("Sub", sequence([event("In"), throw("Inner.Error")])).as_activity();
    let root = try_catch(activity("Sub").id("Sub"), write(js("getError().type")));
    let mut it = Scenario::of(&workflow("errors", root)).with(&sub);
    it.start().is(suspended(&["In"]));
    it.resume("In").is(finished().lines(&["Inner.Error"]));
}

#[test]
fn each_item_of_a_parallel_loop_has_its_own_catch() {
    let bad = run_js("if (getCurrentValue() === 'b') { throw new Error('no') }");
    let body = sequence([bad, write(js("getCurrentValue()"))]);
    let body = try_catch(body, write(js("`caught ${getCurrentValue()}`")));
    let root = parallel_for_each(object(json!(["a", "b", "c"])), body);
    played(root)
        .start()
        .is(finished().lines(&["a", "caught b", "c"]));
}

#[test]
fn a_task_is_tried_again_and_ends_in_time() {
    let retry = json!({ "maxAttempts": 2, "intervalMs": 60_000, "jitter": false });
    let work = task("work")
        .custom("retry", retry)
        .custom("timeout", json!({ "attemptMs": 3_600_000 }));
    let mut it = played(sequence([work, line("After")]));
    it.start();
    it.after("01:00:00");
    assert!(it.journal().ends_with("work~ work@"), "{}", it.journal());
    it.after("00:01:00");
    it.task_done("work", json!({}))
        .is(finished().lines(&["After"]));
    let mut late = played(task("work").custom("timeout", 1_000));
    late.start();
    late.after("00:00:01").is(faulted(&[
        "it did not end within 1000 ms with all its attempts",
    ]));
}

#[test]
fn a_composite_is_cut_off_with_all_that_waits_in_it_and_begins_anew() {
    let retry = json!({ "maxAttempts": 2, "intervalMs": 1_000, "jitter": false });
    let both = parallel([event("A"), event("B")])
        .custom("retry", retry)
        .custom("timeout", json!({ "attemptMs": 10_000 }));
    let mut it = played(sequence([both, line("After")]));
    it.start();
    it.resume("A");
    it.after("00:00:10");
    it.after("00:00:01");
    it.resume("B");
    let seen = it.resume("A");
    assert_eq!(seen.sub_status, SubStatus::Finished);
    let mut it = played(parallel([event("A")]).id("Both").custom("timeout", 5_000));
    it.start();
    it.cancel().is(cancelled());
}
