use serde_json::{Value, json};

use crate::activity::scenario::{BEGIN, Scenario, event, line, literal, write};
use crate::instance::SubStatus;
use crate::journal::Event;

/// The activity with custom properties.
fn guarded(mut activity: Value, custom: Value) -> Value {
    activity["customProperties"] = custom;
    activity
}

fn retry(attempts: u32) -> Value {
    json!({ "retry": { "maxAttempts": attempts, "intervalMs": 1_000, "backoff": 3, "jitter": false, "not": ["Final*"] } })
}

/// Fails as long as the variable is below a number.
fn stubborn(until: u32) -> Value {
    let script =
        format!("setN(getN() + 1); if (getN() < {until}) {{ throw new Error('no ' + getN()) }}");
    json!({ "id": "try", "type": "Elsa.RunJavaScript", "script": literal(script) })
}

fn played(activities: Value) -> Scenario {
    Scenario::sequence(json!({ "N": 0 }), activities).start()
}

#[test]
fn an_activity_is_tried_again_after_growing_pauses() {
    let mut scenario = played(json!([guarded(stubborn(3), retry(3)), line("after")]));
    let pause = scenario.waiting_at("try");
    assert_eq!(pause.due(), Some(BEGIN.plus_ms(1_000)));
    assert_eq!(pause.payload["AttemptNumber"], 2);
    scenario.let_time_pass();
    assert_eq!(scenario.waiting_at("try").due(), Some(BEGIN.plus_ms(4_000)));
    scenario.let_time_pass();
    assert_eq!(scenario.lines, ["after"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
    let retries = scenario.journaled("try", Event::Retrying);
    assert_eq!(retries.len(), 2);
    assert_eq!(retries[0]["attemptNumber"], 1);
    assert_eq!(retries[0]["details"]["type"], "ExpressionError");
    assert!(scenario.journaled("try", Event::Faulted).is_empty());
}

#[test]
fn the_last_attempt_is_an_incident_and_an_operator_begins_with_the_first() {
    let mut scenario = played(json!([guarded(stubborn(9), retry(2))]));
    scenario.let_time_pass();
    assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    assert_eq!(scenario.instance.incidents.len(), 1);
    scenario.play(crate::step::Stimulus::Retry {
        activity_ids: Vec::new(),
    });
    assert_eq!(scenario.sub_status(), SubStatus::Suspended);
    assert_eq!(scenario.waiting_at("try").payload["AttemptNumber"], 2);
}

#[test]
fn the_time_for_which_an_instance_stood_failed_counts_for_no_timeout() {
    let inner =
        json!({ "id": "box", "type": "Elsa.Sequence", "activities": [stubborn(2), event("w")] });
    let mut scenario = played(json!([
        guarded(inner, json!({ "timeout": 60_000 })),
        line("after")
    ]));
    assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    scenario.now = scenario.now.plus_ms(3_600_000);
    scenario.play(crate::step::Stimulus::Retry {
        activity_ids: Vec::new(),
    });
    assert_eq!(scenario.sub_status(), SubStatus::Suspended);
    let end = scenario.waiting_at("box");
    assert_eq!(end.due(), Some(scenario.now.plus_ms(60_000)));
}

#[test]
fn an_error_that_is_final_is_not_tried_again() {
    let throw = json!({ "id": "t", "type": "Dormouse.Throw", "errorType": literal("Final.One") });
    let scenario = played(json!([guarded(throw, retry(5))]));
    assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    assert!(scenario.journaled("t", Event::Retrying).is_empty());
}

#[test]
fn a_composite_begins_anew_without_what_was_in_it() {
    let script = "setN(getN() + 1); setVariable('Inner', getInner() + 1); if (getN() < 2) { throw new Error('once') }";
    let body = json!({
        "id": "box", "type": "Elsa.Sequence",
        "variables": [{ "id": "Inner", "name": "Inner", "typeName": "Object", "value": 0,
                        "storageDriverTypeName": "WorkflowInstanceStorageDriver" }],
        "activities": [line("first"), { "type": "Elsa.Parallel", "activities": [
            event("w"), { "id": "js", "type": "Elsa.RunJavaScript", "script": literal(script) },
        ] }, write("Inner")],
    });
    let mut scenario = played(json!([guarded(body, retry(3)), line("after")]));
    assert_eq!(scenario.lines, ["first"]);
    assert!(
        scenario.bookmarks_at("w").is_empty(),
        "its children's bookmarks are gone"
    );
    assert_eq!(
        scenario.journaled("js", Event::Faulted)[0]["handledBy"],
        "box"
    );
    scenario.let_time_pass();
    scenario.resume("w", json!({}));
    assert_eq!(scenario.lines, ["first", "first", "1", "after"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
}

#[test]
fn a_wait_ends_at_its_time_and_what_comes_later_finds_nothing() {
    let wait = guarded(event("w"), json!({ "timeout": 60_000 }));
    let it = json!({ "type": "Dormouse.TryCatch", "body": wait, "errors": ["Timeout"], "catch": line("late") });
    let mut scenario = played(json!([it, line("after")]));
    let awaited = scenario.bookmarks_at("w");
    let event = awaited
        .iter()
        .find(|b| b.due().is_none())
        .unwrap()
        .id
        .clone();
    assert_eq!(awaited.len(), 2);
    scenario.let_time_pass();
    assert_eq!(scenario.now, BEGIN.plus_ms(60_000));
    assert_eq!(scenario.lines, ["late", "after"]);
    assert!(!scenario.resume_bookmark(event, json!({})));
}

#[test]
fn an_end_in_time_takes_the_timers_with_it() {
    let custom = json!({ "timeout": { "wholeMs": 60_000, "attemptMs": 1_000 } });
    let mut scenario = played(json!([guarded(event("w"), custom)]));
    let event = scenario
        .bookmarks_at("w")
        .into_iter()
        .find(|b| b.due().is_none());
    let event = event.unwrap().id.clone();
    scenario.resume_bookmark(event, json!({}));
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
    assert!(scenario.instance.bookmarks.is_empty());
}

#[test]
fn each_attempt_has_its_time_and_all_of_them_have_theirs() {
    let mut custom = retry(9);
    custom["timeout"] = json!({ "wholeMs": 10_000, "attemptMs": 2_500 });
    let children =
        json!({ "id": "box", "type": "Elsa.Parallel", "activities": [event("a"), event("b")] });
    let mut scenario = played(json!([guarded(children, custom)]));
    let mut seen = Vec::new();
    while scenario.sub_status() != SubStatus::Faulted {
        scenario.let_time_pass();
        seen.push((scenario.now.0 - BEGIN.0, scenario.bookmarks_at("a").len()));
    }
    // Attempts of two and a half seconds, pauses of one and three; the third would end behind the time for all.
    assert_eq!(
        seen,
        [(2_500, 0), (3_500, 1), (6_000, 0), (9_000, 1), (10_000, 0)]
    );
    assert_eq!(
        scenario.incidents(),
        ["it did not end within 10000 ms with all its attempts"]
    );
    assert_eq!(scenario.instance.incidents[0].activity_id, "box");
}

#[test]
fn the_end_of_the_time_of_a_try_is_none_of_its_own_errors_and_passes_finally() {
    let it = json!({ "id": "try", "type": "Dormouse.TryCatch", "body": event("w"), "catch": line("no"), "finally": line("finally") });
    let it = guarded(it, json!({ "timeout": 1_000 }));
    let outer = json!({ "type": "Dormouse.TryCatch", "body": it, "catch": line("outer") });
    let mut scenario = played(json!([outer]));
    scenario.let_time_pass();
    assert_eq!(scenario.lines, ["finally", "outer"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
}

#[test]
fn a_task_is_asked_for_again_under_another_id() {
    let task = json!({ "id": "t", "type": "Elsa.RunTask", "taskName": literal("Review") });
    let mut scenario = played(json!([guarded(task, retry(2))]));
    let first = scenario.waiting_at("t").payload["TaskId"].clone();
    let answer = json!({ "error": { "type": "Busy", "message": "later" } });
    let word = crate::activity::own::Word::Answered { answer };
    scenario.resume("t", Value::Object(word.input()));
    scenario.let_time_pass();
    assert_ne!(scenario.waiting_at("t").payload["TaskId"], first);
    scenario.resume("t", json!({ "Result": 1 }));
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
}

#[test]
fn a_guard_is_no_wait_of_the_activity_to_the_journal() {
    let custom = json!({ "timeout": 60_000 });
    let both = guarded(
        json!({ "id": "box", "type": "Elsa.Parallel", "activities": [event("a")] }),
        custom,
    );
    let scenario = played(json!([both]));
    assert!(scenario.journaled("box", Event::Suspended).is_empty());
    assert_eq!(scenario.journaled("a", Event::Suspended).len(), 1);
}

#[test]
fn what_is_wrong_with_a_guard_is_told_when_it_is_checked() {
    let codes = |custom: Value| -> Vec<(&str, String)> {
        let scenario = Scenario::sequence(json!({}), json!([guarded(line("x"), custom)]));
        let problems = scenario.validate();
        problems.into_iter().map(|p| (p.code, p.path)).collect()
    };
    let at = |place: &str| format!("root.activities[0].customProperties.{place}");
    for (custom, code, place) in [
        (json!({ "retry": 3 }), "badRetry", "retry"),
        (
            json!({ "retry": { "maxAttempts": 0 } }),
            "badRetry",
            "retry.maxAttempts",
        ),
        (
            json!({ "retry": { "attempts": 3 } }),
            "badRetry",
            "retry.attempts",
        ),
        (json!({ "timeout": 0 }), "badTimeout", "timeout"),
        (json!({ "timeout": "1h" }), "badTimeout", "timeout"),
        (json!({ "timeout": { "ms": 5 } }), "badTimeout", "timeout"),
        (
            json!({ "retry": {}, "resilienceStrategy": { "strategyId": "x" } }),
            "twoRetries",
            "retry",
        ),
    ] {
        assert_eq!(codes(custom), [(code, at(place))]);
    }
    assert!(codes(json!({ "retry": null, "timeout": { "wholeMs": 5 } })).is_empty());
}
