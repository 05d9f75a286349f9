use serde_json::{Value, json};

use crate::activity::own::Word;
use crate::activity::scenario::{Scenario, bound, event, line, literal, script, sequence};
use crate::instance::SubStatus;
use crate::journal::Event;
use crate::step::{Change, Stimulus};

fn custom(mut activity: Value, name: &str, value: Value) -> Value {
    activity["customProperties"][name] = value;
    activity
}

fn tell(source: &str) -> Value {
    json!({ "type": "Elsa.WriteLine", "text": script(source) })
}

/// An activity that writes its id, and is undone by one that writes `-` and the id of what it undoes.
fn step(id: &str) -> Value {
    let mut it = line(id);
    it["id"] = json!(id);
    custom(it, "compensate", tell("'-' + getUndo().activityId"))
}

fn throw() -> Value {
    json!({ "id": "bad", "type": "Dormouse.Throw", "errorType": literal("Bad"), "message": literal("no") })
}

fn on(scope: Value, when: Value) -> Value {
    custom(scope, "compensateOn", when)
}

fn scope(activities: Value, when: Value) -> Value {
    on(
        json!({ "id": "scope", "type": "Elsa.Sequence", "activities": activities }),
        when,
    )
}

fn caught(body: Value) -> Value {
    json!({ "id": "try", "type": "Dormouse.TryCatch", "body": body, "catch": line("caught") })
}

fn played(activities: Value) -> Scenario {
    Scenario::sequence(json!({ "Out": null }), activities).start()
}

#[test]
fn what_had_completed_is_undone_in_reverse_and_the_error_goes_on() {
    let body = scope(
        json!([step("a"), step("b"), line("c"), throw(), step("d")]),
        json!(["fault"]),
    );
    let scenario = played(json!([caught(body), line("after")]));
    assert_eq!(
        scenario.lines,
        ["a", "b", "c", "-b", "-a", "caught", "after"]
    );
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
    let told = scenario.journaled("scope", Event::Compensating);
    assert_eq!(told[0]["activities"], json!(["b", "a"]));
    assert_eq!(told[0]["exception"]["type"], "Bad");
    assert!(scenario.instance.undoable.is_empty());
}

#[test]
fn an_error_that_nothing_catches_is_an_incident_after_everything_is_undone() {
    let body = scope(json!([step("a"), throw()]), json!(["fault"]));
    let mut scenario = played(json!([body]));
    assert_eq!(scenario.lines, ["a", "-a"]);
    assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    assert_eq!(scenario.instance.incidents[0].activity_id, "scope");
    // All of it begins anew.
    scenario.play(Stimulus::Retry {
        activity_ids: Vec::new(),
    });
    assert_eq!(scenario.lines, ["a", "-a", "a", "-a"]);
}

#[test]
fn an_undo_knows_what_it_undoes() {
    let task = json!({ "id": "pay", "name": "Pay", "type": "Elsa.RunTask", "taskName": literal("pay"),
        "payload": literal(json!({ "amount": 3 })), "result": bound("Out") });
    let said = tell("JSON.stringify([getUndo(), getError().type, getOut()])");
    let mut scenario = played(json!([caught(scope(
        json!([custom(task, "compensate", said), throw()]),
        json!("fault"),
    ))]));
    scenario.resume("pay", json!({ "Result": { "receipt": 7 } }));
    let told: Value = serde_json::from_str(&scenario.lines[0]).unwrap();
    assert_eq!(told[0]["activityId"], "pay");
    assert_eq!(told[0]["activityName"], "Pay");
    assert_eq!(
        told[0]["inputs"],
        json!({ "taskName": "pay", "payload": { "amount": 3 } })
    );
    assert_eq!(told[0]["outputs"]["result"], json!({ "receipt": 7 }));
    assert_eq!(told[1], "Bad");
    assert_eq!(told[2], json!({ "receipt": 7 }));
}

#[test]
fn one_in_the_same_container_undoes_by_name_and_never_runs_in_its_turn() {
    let mut undo = tell("'undo ' + getUndo().activityId");
    undo["id"] = json!("release");
    undo["name"] = json!("Release");
    let mut reserve = line("reserve");
    reserve["id"] = json!("reserve");
    for name in ["release", "Release"] {
        let reserve = custom(reserve.clone(), "compensate", json!(name));
        let body = |end: Value| scope(json!([undo, reserve, end]), json!(["fault"]));
        assert_eq!(
            played(json!([caught(body(line("end")))])).lines,
            ["reserve", "end"]
        );
        let failed = played(json!([caught(body(throw()))]));
        assert_eq!(failed.lines, ["reserve", "undo reserve", "caught"]);
    }
    let lost = scope(
        json!([custom(reserve, "compensate", json!("gone"))]),
        json!([]),
    );
    let codes: Vec<_> = played(json!([lost]))
        .validate()
        .iter()
        .map(|p| p.code)
        .collect();
    assert_eq!(codes, ["unknownCompensation"]);
}

#[test]
fn a_compensate_undoes_what_completed_in_the_try_around_it() {
    let body = sequence(json!([
        step("a"),
        json!({ "type": "Elsa.Parallel", "activities": [step("b"), event("w")] }),
        line("never")
    ]));
    let failing = json!({ "type": "Elsa.Parallel", "activities": [body, sequence(json!([event("go"), throw()]))] });
    let undo = json!({ "id": "undo", "type": "Dormouse.Compensate" });
    let it = json!({ "id": "try", "type": "Dormouse.TryCatch", "body": failing, "catch": sequence(json!([undo, line("caught")])) });
    let mut scenario = played(json!([step("before"), it, throw()]));
    scenario.resume("go", json!({}));
    assert_eq!(scenario.lines, ["before", "a", "b", "-b", "-a", "caught"]);
    assert_eq!(
        scenario.instance.undoable.len(),
        1,
        "what came before the try is not undone"
    );
}

#[test]
fn a_compensate_undoes_one_activity_or_container_by_name_and_nothing_twice() {
    let undo = |name: &str| json!({ "type": "Dormouse.Compensate", "activity": literal(name) });
    let mut inner = sequence(json!([step("b"), step("c")]));
    inner["name"] = json!("Inner");
    let all = json!([
        step("a"),
        inner,
        step("d"),
        undo("Inner"),
        undo("Inner"),
        undo("a"),
        undo("")
    ]);
    let scenario = played(all);
    assert_eq!(scenario.lines, ["a", "b", "c", "d", "-c", "-b", "-a", "-d"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
    let unknown = played(json!([undo("nobody")]));
    assert!(unknown.incidents()[0].contains("`nobody`"));
}

#[test]
fn what_undoes_a_whole_takes_the_place_of_what_undoes_its_parts() {
    let mut whole = sequence(json!([step("a"), step("b")]));
    whole["id"] = json!("whole");
    let whole = custom(whole, "compensate", tell("'-' + getUndo().activityId"));
    let body = scope(json!([whole, throw()]), json!(["fault"]));
    assert_eq!(
        played(json!([caught(body)])).lines,
        ["a", "b", "-whole", "caught"]
    );
}

#[test]
fn a_failed_undo_is_its_own_incident_and_a_retry_goes_on_where_it_stopped() {
    let mut undo = json!({ "id": "undo", "type": "Elsa.RunTask", "taskName": literal("undo") });
    undo["customProperties"] =
        json!({ "retry": { "maxAttempts": 2, "intervalMs": 1_000, "jitter": false } });
    let mut b = line("b");
    b["id"] = json!("b");
    let body = scope(
        json!([step("a"), custom(b, "compensate", undo), step("c"), throw()]),
        json!(["fault"]),
    );
    let mut scenario = played(json!([caught(body)]));
    assert_eq!(scenario.lines, ["a", "b", "c", "-c"]);
    let word = Word::Answered {
        answer: json!({ "error": { "type": "Busy", "message": "not now" } }),
    };
    scenario.resume("undo", Value::Object(word.input()));
    scenario.let_time_pass();
    scenario.resume("undo", Value::Object(word.input()));
    assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    assert_eq!(scenario.incidents(), ["not now"]);
    assert_eq!(scenario.instance.incidents[0].activity_id, "undo");
    scenario.play(Stimulus::Retry {
        activity_ids: Vec::new(),
    });
    assert_eq!(scenario.sub_status(), SubStatus::Suspended);
    scenario.resume("undo", json!({}));
    assert_eq!(scenario.lines, ["a", "b", "c", "-c", "-a", "caught"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
    assert!(scenario.instance.incidents.is_empty());
}

#[test]
fn a_cancelled_instance_undoes_first_and_a_second_cancellation_changes_nothing() {
    let undo = event("slow");
    let mut b = line("b");
    b["id"] = json!("b");
    let body = json!([
        step("a"),
        custom(b, "compensate", undo),
        step("c"),
        event("w")
    ]);
    let all = json!({ "id": "all", "type": "Elsa.Parallel", "activities": [scope(body, json!(["cancel"])), event("other")] });
    let mut scenario = played(json!([all]));
    assert!(scenario.play(Stimulus::Cancel));
    assert_eq!(scenario.lines, ["a", "b", "c", "-c"]);
    assert_eq!(scenario.sub_status(), SubStatus::Suspended);
    assert!(scenario.bookmarks_at("w").is_empty() && scenario.bookmarks_at("other").is_empty());
    assert!(!scenario.play(Stimulus::Cancel));
    scenario.resume("slow", json!({}));
    assert_eq!(scenario.lines, ["a", "b", "c", "-c", "-a"]);
    assert_eq!(scenario.sub_status(), SubStatus::Cancelled);
    assert!(scenario.instance.contexts.is_empty() && scenario.instance.undoable.is_empty());
}

#[test]
fn a_cancellation_does_not_cut_off_the_compensation_of_an_error() {
    let mut b = line("b");
    b["id"] = json!("b");
    let body = scope(
        json!([step("a"), custom(b, "compensate", event("slow")), throw()]),
        json!(["fault"]),
    );
    let mut scenario = played(json!([caught(body)]));
    assert!(scenario.play(Stimulus::Cancel));
    assert_eq!(scenario.sub_status(), SubStatus::Suspended);
    scenario.resume("slow", json!({}));
    assert_eq!(scenario.lines, ["a", "b", "-a"]);
    assert_eq!(scenario.sub_status(), SubStatus::Cancelled);
}

#[test]
fn a_branch_that_is_cancelled_undoes_apart_while_the_rest_goes_on() {
    let mut b = line("b");
    b["id"] = json!("b");
    let branch = scope(
        json!([
            step("a"),
            custom(b, "compensate", event("slow")),
            event("w")
        ]),
        json!(["cancel"]),
    );
    let race =
        json!({ "type": "Elsa.Fork", "joinMode": "WaitAny", "branches": [branch, event("first")] });
    let mut scenario = played(json!([race, line("after")]));
    scenario.resume("first", json!({}));
    assert_eq!(scenario.lines, ["a", "b", "after"]);
    // The workflow ends with the last undo.
    assert_eq!(scenario.sub_status(), SubStatus::Suspended);
    scenario.resume("slow", json!({}));
    assert_eq!(scenario.lines, ["a", "b", "after", "-a"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
    assert_eq!(scenario.journaled("scope", Event::Canceled).len(), 1);
}

#[test]
fn an_operator_skips_an_undo_and_the_next_one_follows() {
    let mut b = line("b");
    b["id"] = json!("b");
    let body = scope(
        json!([step("a"), custom(b, "compensate", event("slow")), throw()]),
        json!(["fault"]),
    );
    let mut scenario = played(json!([caught(body)]));
    let changes = vec![Change::RunActivity {
        activity_id: "scope".into(),
    }];
    assert!(!scenario.play(Stimulus::Alter { changes }), "it undoes");
    scenario.play(Stimulus::CancelActivity {
        activity_id: "slow".into(),
    });
    assert_eq!(scenario.lines, ["a", "b", "-a", "caught"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
}

#[test]
fn a_scope_that_is_tried_again_undoes_each_attempt() {
    let retry = json!({ "maxAttempts": 2, "intervalMs": 1_000, "jitter": false });
    let body = custom(
        scope(json!([step("a"), throw()]), json!(["fault"])),
        "retry",
        retry,
    );
    let mut scenario = played(json!([caught(body)]));
    scenario.let_time_pass();
    assert_eq!(scenario.lines, ["a", "-a", "a", "-a", "caught"]);
}

#[test]
fn flowcharts_undo_in_both_modes_and_what_is_only_queued_does_not_run() {
    for mode in ["CounterBased", "TokenBased"] {
        let way = |from: &str, to: &str| json!({ "source": { "activity": from }, "target": { "activity": to } });
        let chart = json!({
            "id": "chart", "type": "Elsa.Flowchart", "activities": [step("a"), step("b"), throw(), step("c")],
            "connections": [way("a", "b"), way("a", "bad"), way("a", "c")],
        });
        let mut scenario = Scenario::sequence(
            json!({}),
            json!([caught(on(chart, json!(["fault", "cancel"])))]),
        );
        scenario
            .instance
            .properties
            .insert("Flowchart:ExecutionMode".into(), mode.into());
        scenario.play(Stimulus::Start);
        assert_eq!(scenario.lines, ["a", "b", "-b", "-a", "caught"], "{mode}");
    }
}

#[test]
fn another_version_must_know_how_to_undo() {
    let version = |undo: bool| {
        let mut a = step("a");
        if !undo {
            a["customProperties"] = Value::Null;
        }
        Scenario::sequence(json!({}), json!([line("new"), a, event("w"), throw()]))
    };
    let waiting = Scenario::sequence(json!({}), json!([step("a"), event("w"), throw()])).start();
    let to = version(true).graph;
    let moved = waiting
        .instance
        .clone()
        .migrate(&waiting.graph, &to)
        .unwrap();
    assert_eq!(to.node(moved.undoable[0].node).id, "a");
    let lost = waiting
        .instance
        .migrate(&waiting.graph, &version(false).graph);
    assert!(
        lost.unwrap_err()
            .contains("`a` has completed and can be undone")
    );
}

#[test]
fn what_is_wrong_with_a_compensation_is_told_when_it_is_checked() {
    for value in [json!(7), json!(""), json!({ "id": "x" }), json!([])] {
        let it = Scenario::sequence(json!({}), json!([custom(line("a"), "compensate", value)]));
        assert_eq!(it.validate()[0].code, "badCompensate");
    }
    let it = Scenario::sequence(json!({}), json!([scope(json!([]), json!(["error"]))]));
    assert_eq!(it.validate()[0].code, "badCompensate");
}
