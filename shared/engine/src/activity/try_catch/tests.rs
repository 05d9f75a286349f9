use serde_json::{Value, json};

use crate::activity::scenario::{
    BEGIN, Scenario, bound, event, fault, line, literal, script, sequence,
};
use crate::instance::SubStatus;
use crate::journal::Event;
use crate::step::Stimulus;

fn throw(kind: &str) -> Value {
    json!({ "id": "t", "name": "Thrower", "type": "Dormouse.Throw", "errorType": literal(kind),
            "message": literal("no luck"), "data": literal(json!({ "code": 7 })) })
}

fn tell(source: &str) -> Value {
    json!({ "type": "Elsa.WriteLine", "text": script(source) })
}

fn try_catch(body: Value, catches: Value, finally: Value) -> Value {
    json!({ "id": "try", "type": "Dormouse.TryCatch", "body": body, "catches": catches, "finally": finally })
}

fn after(first: Value) -> Scenario {
    Scenario::sequence(json!({ "Caught": null }), json!([first, line("after")]))
}

fn on(pattern: &str, activity: Value) -> Value {
    json!({ "errors": [pattern], "activity": activity })
}

#[test]
fn a_body_without_an_error_goes_on_through_finally() {
    let scenario = after(try_catch(
        line("body"),
        json!([on("*", line("no"))]),
        line("finally"),
    ));
    let scenario = scenario.start();
    assert_eq!(scenario.lines, ["body", "finally", "after"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
}

#[test]
fn the_first_catch_that_fits_is_told_everything() {
    let said = "JSON.stringify(getError())";
    let mut it = try_catch(
        sequence(json!([throw("Payment.Declined"), line("never")])),
        json!([
            on("Stock.*", line("stock")),
            on("Payment.*", tell(said)),
            on("*", line("any"))
        ]),
        tell("'finally ' + getError()"),
    );
    it["error"] = bound("Caught");
    let scenario = after(it).start();
    let error = json!({
        "type": "Payment.Declined", "message": "no luck", "activityId": "t", "activityName": "Thrower",
        "data": { "code": 7 },
    });
    let told: Value = serde_json::from_str(&scenario.lines[0]).unwrap();
    assert_eq!(told, error);
    assert_eq!(scenario.lines[1..], ["finally null", "after"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
    assert!(scenario.instance.incidents.is_empty());
    let faulted = scenario.journaled("t", Event::Faulted);
    assert_eq!(faulted.len(), 1);
    assert_eq!(faulted[0]["handledBy"], "try");
    assert_eq!(scenario.journaled("try", Event::Completed).len(), 1);
}

#[test]
fn the_single_catch_of_a_designer_takes_what_it_names() {
    let it = |errors: Value| json!({ "type": "Dormouse.TryCatch", "body": fault("x"), "catch": line("caught"), "errors": errors });
    assert_eq!(after(it(Value::Null)).start().lines, ["caught", "after"]);
    assert_eq!(
        after(it(json!("Fault*"))).start().lines,
        ["caught", "after"]
    );
    let missed = after(it(json!(["Other"]))).start();
    assert_eq!(missed.sub_status(), SubStatus::Faulted);
    // The incident is where it was raised: nothing has dealt with it.
    assert_eq!(missed.instance.incidents[0].activity_type, "Elsa.Fault");
}

#[test]
fn what_runs_and_waits_in_the_body_is_cancelled_first() {
    let branches = json!([
        event("w"),
        sequence(json!([event("go"), throw("X")])),
        line("other")
    ]);
    let body = json!({ "id": "all", "type": "Elsa.Parallel", "activities": branches });
    let mut scenario = after(try_catch(body, json!([on("X", event("c"))]), Value::Null)).start();
    assert_eq!(scenario.lines, ["other"]);
    let lost = scenario.waiting_at("w").id.clone();
    scenario.resume("go", json!({}));
    assert_eq!(scenario.instance.bookmarks.len(), 1);
    assert_eq!(scenario.journaled("w", Event::Canceled).len(), 1);
    assert!(!scenario.resume_bookmark(lost, json!({})));
    scenario.resume("c", json!({}));
    assert_eq!(scenario.lines, ["other", "after"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
}

#[test]
fn finally_runs_once_when_a_catch_fails_too_and_the_new_error_goes_outwards() {
    let inner = try_catch(
        throw("A"),
        json!([on("A", throw("B"))]),
        line("inner finally"),
    );
    let mut inner = inner;
    inner["catches"][0]["activity"]["id"] = json!("again");
    inner["id"] = json!("inner");
    let outer = try_catch(
        inner,
        json!([on("B", tell("getError().activityId"))]),
        line("outer finally"),
    );
    let scenario = after(outer).start();
    assert_eq!(
        scenario.lines,
        ["inner finally", "again", "outer finally", "after"]
    );
}

#[test]
fn an_error_that_nothing_catches_passes_finally_and_is_an_incident() {
    let it = try_catch(
        throw("A"),
        json!([on("B", line("no"))]),
        sequence(json!([line("finally"), event("f")])),
    );
    let mut scenario = after(it).start();
    assert_eq!(scenario.sub_status(), SubStatus::Suspended);
    assert!(scenario.instance.incidents.is_empty());
    scenario.resume("f", json!({}));
    assert_eq!(scenario.lines, ["finally"]);
    assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    let incident = &scenario.instance.incidents[0];
    assert_eq!(
        (incident.activity_id.as_str(), incident.message.as_str()),
        ("try", "no luck")
    );
    let exception = incident.exception.as_ref().unwrap();
    assert_eq!(exception.metadata["activityId"], "t");
    // Another try begins it anew.
    let activity_ids = vec!["try".to_owned()];
    scenario.play(Stimulus::Retry { activity_ids });
    assert_eq!(scenario.lines, ["finally", "finally"]);
    assert_eq!(scenario.sub_status(), SubStatus::Suspended);
}

#[test]
fn an_error_in_finally_goes_outwards_in_the_place_of_the_first() {
    let inner = try_catch(throw("A"), json!([]), fault("late"));
    let outer =
        json!({ "type": "Dormouse.TryCatch", "body": inner, "catch": tell("getError().message") });
    assert_eq!(after(outer).start().lines, ["late", "after"]);
}

#[test]
fn each_item_of_a_parallel_loop_catches_its_own_errors() {
    let choice = json!({
        "type": "Elsa.If", "condition": script("getVariable('CurrentValue') == 'b'"), "then": fault("no"),
    });
    let item = tell("getVariable('CurrentValue')");
    let body = json!({
        "type": "Dormouse.TryCatch", "body": sequence(json!([choice, item])),
        "catch": sequence(json!([event("fix"), tell("'caught ' + getVariable('CurrentValue')")])),
    });
    let each =
        json!({ "type": "Elsa.ParallelForEach", "items": script("['a', 'b', 'c']"), "body": body });
    let mut scenario = after(each).start();
    assert_eq!(scenario.lines, ["a", "c"]);
    scenario.resume("fix", json!({}));
    assert_eq!(scenario.lines, ["a", "c", "caught b", "after"]);
    assert_eq!(scenario.sub_status(), SubStatus::Finished);
}

#[test]
fn errors_of_scripts_and_of_flowcharts_are_caught_in_both_modes() {
    for mode in ["CounterBased", "TokenBased"] {
        let way = |from: &str, to: &str| json!({ "source": { "activity": from }, "target": { "activity": to } });
        let bad = json!({ "id": "bad", "type": "Elsa.RunJavaScript", "script": literal("throw new Error('js')") });
        let mut first = line("first");
        first["id"] = json!("first");
        let chart = json!({
            "id": "chart", "type": "Elsa.Flowchart", "activities": [first, bad, event("beside")],
            "connections": [way("first", "beside"), way("first", "bad")],
        });
        let caught = tell("getError().type + ' ' + getError().activityId");
        let it = json!({ "type": "Dormouse.TryCatch", "body": chart, "catch": caught });
        let mut scenario = after(it);
        scenario
            .instance
            .properties
            .insert("Flowchart:ExecutionMode".into(), mode.into());
        scenario.play(Stimulus::Start);
        assert_eq!(
            scenario.lines,
            ["first", "ExpressionError bad", "after"],
            "{mode}"
        );
        assert!(scenario.instance.bookmarks.is_empty());
    }
}

#[test]
fn a_limit_of_the_instance_is_not_caught() {
    let round = json!({ "type": "Elsa.While", "condition": literal(true), "body": line("x") });
    let it = json!({ "type": "Dormouse.TryCatch", "body": round, "catch": line("caught") });
    let scenario = after(it).start();
    assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    assert!(!scenario.lines.contains(&"caught".to_owned()));
}

#[test]
fn a_cancelled_one_runs_neither_catch_nor_finally() {
    let mut scenario = after(try_catch(
        event("w"),
        json!([on("*", line("c"))]),
        line("f"),
    ))
    .start();
    scenario.play(Stimulus::Cancel);
    assert_eq!(scenario.sub_status(), SubStatus::Cancelled);
    assert!(scenario.lines.is_empty());
}

#[test]
fn what_is_wrong_with_it_is_told_when_it_is_checked() {
    let codes = |it: Value| -> Vec<&str> { after(it).validate().iter().map(|p| p.code).collect() };
    assert_eq!(
        codes(try_catch(line("b"), json!([]), Value::Null)),
        ["noCatch"]
    );
    assert_eq!(
        codes(try_catch(Value::Null, json!([]), line("f"))),
        ["noBody"]
    );
    for errors in [
        json!([7]),
        json!([""]),
        json!({}),
        json!([vec!["x"; 300].concat()]),
    ] {
        let catches = json!([{ "errors": errors, "activity": line("c") }]);
        assert_eq!(
            codes(try_catch(line("b"), catches, Value::Null)),
            ["badCatch"]
        );
    }
    assert_eq!(
        codes(try_catch(line("b"), json!(["x"]), line("f"))),
        ["badCatch"]
    );
}

#[test]
fn the_bounds_of_an_error_are_those_of_a_handlers() {
    let mut big = throw("X");
    big["data"] = literal(json!({ "text": "x".repeat(70_000) }));
    let scenario = after(big).start();
    assert!(scenario.incidents()[0].contains("65536 bytes"));
    let scenario = after(throw(&"k".repeat(900))).start();
    let exception = scenario.instance.incidents[0].exception.as_ref().unwrap();
    assert_eq!(exception.kind.len(), 200);
    let plain = after(json!({ "id": "p", "type": "Dormouse.Throw" })).start();
    assert_eq!(plain.incidents(), ["The workflow raised the error Error."]);
    assert_eq!(plain.now, BEGIN);
}
