//! Requests that leave and come: what is asked for, what is answered, and trying again as data.

use std::collections::BTreeMap;

use dormouse_engine::call::Answer;
use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{endpoint, event, line, respond, sequence, write};
use dormouse_tests::web::request;
use dormouse_tests::{Activity, Scenario, activity, finished, js, object, suspended, workflow};
use serde_json::{Value, json};

fn answer(status: u16, body: &str) -> Answer {
    let headers = BTreeMap::from([(
        "content-type".to_owned(),
        vec!["application/json".to_owned()],
    )]);
    Answer::Http {
        status,
        headers,
        body: body.as_bytes().to_vec(),
    }
}

/// A workflow that sends a request, and the answers that come.
fn sending(send: Activity, answers: impl IntoIterator<Item = Answer>) -> Scenario {
    let send = send
        .id("Send")
        .input("url", "https://shop.example/orders")
        .bind("parsedContent", "got");
    let edges =
        "Send:200>OK; Send:404>Gone; Send:Unmatched status code>Odd; Send:Failed to connect>Down;
        Send:Timeout>Slow; Send>Done";
    let definition = workflow("http", flow(edges, [send])).variable("got", "Object", json!(null));
    let mut it = Scenario::of(&definition);
    it.host.answers.extend(answers);
    it
}

fn flow_send() -> Activity {
    activity("Elsa.FlowSendHttpRequest").input("expectedStatusCodes", object(json!([200, 404])))
}

#[test]
fn the_status_chooses_the_way() {
    let ways = |a: Answer| sending(flow_send(), [a]).start().lines;
    assert_eq!(ways(answer(200, "{}")), ["OK", "Done"]);
    assert_eq!(ways(answer(404, "{}")), ["Gone", "Done"]);
    assert_eq!(ways(answer(500, "{}")), ["Odd", "Done"]);
    assert_eq!(ways(Answer::TimedOut), ["Slow"]);
    assert_eq!(
        ways(Answer::FailedToConnect {
            message: "refused".into()
        }),
        ["Down"]
    );
}

#[test]
fn a_request_is_made_within_the_burst() {
    let mut it = sending(
        flow_send()
            .input("method", "POST")
            .input("content", object(json!({ "n": 1 }))),
        [answer(200, "{}")],
    );
    it.start().is(finished().lines(&["OK", "Done"]));
    let made = &it.host.requests[0];
    assert_eq!(
        (made.method.as_str(), made.url.as_str()),
        ("POST", "https://shop.example/orders")
    );
    assert_eq!(made.body.as_deref(), Some(&br#"{"n":1}"#[..]));
    assert_eq!(
        it.host.kept(it.id()).unwrap().commits,
        2,
        "it was saved before the request left"
    );
}

#[test]
fn a_background_request_does_not_hold_the_instance() {
    let mut it = sending(flow_send().background(), [answer(200, "{}")]);
    let seen = it.start();
    assert_eq!(seen.effects, ["call in the background"]);
    assert_eq!(seen.lines, ["OK", "Done"]);
}

fn patient() -> Activity {
    let strategy = json!({ "maxRetryAttempts": 2, "delay": "00:00:10", "backoffType": "Linear", "useJitter": false });
    let expression = json!({ "type": "Object", "value": strategy.to_string() });
    flow_send().custom(
        "resilienceStrategy",
        json!({ "mode": "Expression", "expression": expression }),
    )
}

#[test]
fn a_request_that_fails_is_made_again_later_under_the_same_key() {
    let mut it = sending(
        patient(),
        [answer(503, ""), answer(503, ""), answer(200, "{}")],
    );
    it.start()
        .is(suspended(&["Send"]).effects(&["timer Send 00:00:10"]));
    it.after("00:00:10")
        .is(suspended(&["Send"]).effects(&["timer Send 00:00:20"]));
    it.after("00:00:20").is(finished().lines(&["OK", "Done"]));
    let keys: Vec<&str> = it
        .host
        .requests
        .iter()
        .map(|r| r.idempotency_key.as_str())
        .collect();
    assert_eq!(keys.len(), 3);
    assert!(keys.iter().all(|k| *k == keys[0]), "{keys:?}");
}

#[test]
fn trying_again_comes_to_an_end() {
    let mut it = sending(patient(), [503, 503, 503].map(|status| answer(status, "")));
    it.start();
    it.after("00:00:10");
    it.after("00:00:20").is(finished().lines(&["Odd", "Done"]));
}

#[test]
fn what_will_not_get_better_is_not_tried_again() {
    let mut it = sending(patient(), [answer(404, "{}")]);
    it.start().is(finished().lines(&["Gone", "Done"]));
}

#[test]
fn a_cancelled_request_that_waits_for_its_turn_is_never_made() {
    let mut it = sending(patient(), [answer(503, ""), answer(200, "{}")]);
    it.start();
    it.cancel();
    it.after("00:01:00");
    assert_eq!(it.host.requests.len(), 1);
}

fn endpoint_in_the_middle() -> Scenario {
    let wait = endpoint("confirm/{id}", &["POST"])
        .bind("routeData", "route")
        .custom("canStartWorkflow", false);
    let root = sequence([
        line("Before"),
        wait,
        write(js("getRoute().id")),
        respond("thanks"),
    ]);
    Scenario::of(&workflow("http", root).variable("route", "Object", Value::Null))
}

#[test]
fn an_endpoint_in_the_middle_waits_for_its_request() {
    let mut it = endpoint_in_the_middle();
    it.start().is(suspended(&["Endpoint"]).lines(&["Before"]));
    let confirm = request("POST", "/confirm/7").matching("/confirm/{id}", json!({ "id": "7" }));
    let thanks = finished()
        .lines(&["7"])
        .response(200, "text/plain", "thanks");
    it.request(&confirm).unwrap().is(thanks);
    assert!(
        it.request(&confirm).is_none(),
        "nobody listens a second time"
    );
}

#[test]
fn a_workflow_that_waits_answers_the_request_that_wakes_it() {
    let root = sequence([endpoint("start", &["GET"]), event("Go"), respond("late")]);
    let mut it = Scenario::of(&workflow("http", root));
    it.request(&request("GET", "/start"))
        .unwrap()
        .is(suspended(&["Go"]));
    let seen = it.event("Go", json!(1));
    assert_eq!(
        seen.incidents.len(),
        1,
        "no request waits any more: {seen:#?}"
    );
}
