//! Elsa's HTTP workflows, as far as the engine takes part: who listens, what is read of a request, what is answered.

use std::thread;

use dormouse_engine::call::HttpResponse;
use dormouse_engine::step::Environment;
use dormouse_tests::flow::flow;
use dormouse_tests::host::{BEGIN, Host};
use dormouse_tests::primitives::{endpoint, respond, sequence};
use dormouse_tests::web::{Request, multipart, request};
use dormouse_tests::{
    Activity, Scenario, activity, corpus, finished, js, literal, object, workflow,
};
use serde_json::json;

/// The workflow answers with what a script makes of the body.
fn echoing(endpoint: Activity, script: &str) -> Scenario {
    let endpoint = endpoint
        .bind("parsedContent", "body")
        .bind("files", "files")
        .bind("routeData", "route");
    let definition = workflow("http", sequence([endpoint, respond(js(script))]));
    let null = || json!(null);
    Scenario::of(
        &definition
            .variable("body", "Object", null())
            .variable("files", "Object", null())
            .variable("route", "Object", null()),
    )
}

fn answer(it: &mut Scenario, request: &Request) -> Option<HttpResponse> {
    it.request(request)
        .map(|seen| seen.response.expect("an answer"))
}

fn status_and_body(it: &mut Scenario, request: &Request) -> (u16, String) {
    let response = answer(it, request).expect("somebody listens");
    (response.status, String::from_utf8(response.body).unwrap())
}

#[test]
pub(crate) fn only_the_methods_of_an_endpoint_are_heard() {
    let mut it = echoing(endpoint("test", &["GET"]), "'hello'");
    assert_eq!(answer(&mut it, &request("POST", "/test")), None);
    assert!(answer(&mut it, &request("GET", "/test")).is_some());
}

#[test]
pub(crate) fn an_endpoint_hears_each_of_its_methods() {
    let methods = ["GET", "POST", "PUT", "DELETE"];
    let endpoint = endpoint("test", &methods).bind("result", "body");
    let definition = workflow(
        "http",
        sequence([endpoint, respond(js("getBody().method"))]),
    );
    let mut it = Scenario::of(&definition.variable("body", "Object", json!(null)));
    for method in methods {
        assert_eq!(
            status_and_body(&mut it, &request(method, "/test")),
            (200, method.to_owned())
        );
    }
    assert_eq!(answer(&mut it, &request("PATCH", "/test")), None);
}

#[test]
pub(crate) fn a_text_is_answered_as_it_is() {
    let root = sequence([endpoint("test/basic", &["GET"]), respond("Basic response")]);
    let mut it = Scenario::of(&workflow("http", root));
    let seen = it.request(&request("GET", "/test/basic")).unwrap();
    seen.is(finished().response(200, "text/plain", "Basic response"));
    let upper = it.request(&request("GET", "/TEST/Basic")).unwrap();
    upper.is(finished().response(200, "text/plain", "Basic response"));
}

#[test]
pub(crate) fn json_is_answered_with_its_own_names() {
    let root = [
        endpoint("echo", &["POST"]).bind("parsedContent", "body"),
        respond(dormouse_tests::variable("body")),
    ];
    let definition = workflow("http", sequence(root)).variable("body", "Object", json!(null));
    let text = r#"{"Name":"Ada","ageInYears":36}"#;
    let mut it = Scenario::of(&definition);
    let seen = it
        .request(&request("POST", "/echo").body("application/json", text.as_bytes()))
        .unwrap();
    seen.is(finished().response(200, "application/json", text));
}

#[test]
pub(crate) fn malformed_json_is_a_bad_request() {
    let mut it = echoing(endpoint("test", &["POST"]), "'fine'");
    let bad = request("POST", "/test").body("application/json", b"{ oops");
    assert_eq!(answer(&mut it, &bad).unwrap().status, 400);
}

#[test]
pub(crate) fn an_empty_json_body_is_null() {
    let mut it = echoing(endpoint("test", &["POST"]), "String(getBody())");
    let empty = request("POST", "/test").with("contentType", "application/json");
    assert_eq!(status_and_body(&mut it, &empty), (200, "null".into()));
}

#[test]
pub(crate) fn the_fields_of_a_form_can_be_read() {
    let script = "getBody() ? `${getBody().name} ${getBody().mail ?? 'none'}` : 'no form data'";
    let mut it = echoing(endpoint("test", &["POST"]), script);
    let form = |body: &str| {
        request("POST", "/test").body("application/x-www-form-urlencoded", body.as_bytes())
    };
    assert_eq!(
        status_and_body(&mut it, &form("name=Ada&mail=a%40b.c")),
        (200, "Ada a@b.c".into())
    );
    assert_eq!(
        status_and_body(&mut it, &form("name=Ada")),
        (200, "Ada none".into())
    );
    assert_eq!(
        status_and_body(&mut it, &form("")),
        (200, "no form data".into())
    );
}

#[test]
pub(crate) fn the_files_of_a_form_can_be_read() {
    let script = "const f = getFiles() ?? []; const field = getBody()?.title ?? '';
        return f.length ? field + f.map(f => `${f.fileName} ${f.contentType} ${f.length};`).join('') : 'no files'";
    let mut it = echoing(endpoint("test", &["POST"]), script);
    let form = |parts: &[dormouse_tests::web::Part<'_>]| {
        request("POST", "/test").body("multipart/form-data; boundary=part", &multipart(parts))
    };
    let (text, png) = (("a.txt", "text/plain"), ("b.png", "image/png"));
    let one = form(&[("file", Some(text), "hello")]);
    assert_eq!(
        status_and_body(&mut it, &one),
        (200, "a.txt text/plain 5;".into())
    );
    let two = form(&[
        ("title", None, "T:"),
        ("file", Some(text), "hello"),
        ("other", Some(png), ""),
    ]);
    let expected = "T:a.txt text/plain 5;b.png image/png 0;";
    assert_eq!(status_and_body(&mut it, &two), (200, expected.into()));
    let none = form(&[("title", None, "T:")]);
    assert_eq!(status_and_body(&mut it, &none), (200, "no files".into()));
}

#[test]
pub(crate) fn a_blocked_ending_leads_through_its_outcome() {
    let endpoint = endpoint("test", &["POST"])
        .input("blockedFileExtensions", object(json!([".exe"])))
        .set("exposeInvalidFileExtensionOutcome", true);
    let refuse = respond("no")
        .id("No")
        .input("statusCode", "UnsupportedMediaType");
    let edges = "Endpoint>Yes; Endpoint:Invalid file extension>No";
    let root = flow(edges, [endpoint, respond("yes").id("Yes"), refuse]);
    let mut it = Scenario::of(&workflow("http", root));
    let upload = |name: &str| {
        let parts = multipart(&[("file", Some((name, "application/octet-stream")), "MZ")]);
        request("POST", "/test").body("multipart/form-data; boundary=part", &parts)
    };
    assert_eq!(
        status_and_body(&mut it, &upload("a.EXE")),
        (415, "no".into())
    );
    assert_eq!(
        status_and_body(&mut it, &upload("a.txt")),
        (200, "yes".into())
    );
}

#[test]
pub(crate) fn a_body_over_the_limit_is_refused() {
    let endpoint = endpoint("test", &["POST"]).input("requestSizeLimit", literal(8));
    let mut it = echoing(endpoint, "'fine'");
    let body = |text: &str| request("POST", "/test").body("text/plain", text.as_bytes());
    // Chunked: the shell stopped reading at the limit and no length was declared.
    let chunked = body("12345678")
        .with("contentLength", json!(null))
        .with("isTooLarge", true);
    assert_eq!(answer(&mut it, &chunked).unwrap().status, 413);
    assert_eq!(answer(&mut it, &body("123456789")).unwrap().status, 413);
    assert_eq!(
        status_and_body(&mut it, &body("1234")),
        (200, "fine".into())
    );
}

#[test]
pub(crate) fn each_request_has_its_own_route_values() {
    let mut it = echoing(
        endpoint("users/{userId}/orders/{orderId}", &["GET"]),
        "getRoute().userid + '/' + getRoute().orderid",
    );
    for (user, order) in [("1", "A"), ("2", "B"), ("user@domain.com", "C")] {
        let request = request("GET", "/users/x/orders/y").matching(
            "users/{userid}/orders/{orderid}",
            json!({ "userid": user, "orderid": order }),
        );
        assert_eq!(
            status_and_body(&mut it, &request),
            (200, format!("{user}/{order}"))
        );
    }
}

fn given(endings: &[&str]) -> Option<Scenario> {
    let mut it = Scenario::of_json(&corpus::file(endings[0])?);
    for ending in &endings[1..] {
        it = it.with_json(&corpus::file(ending)?);
    }
    Some(it)
}

#[test]
pub(crate) fn hello_world_is_answered() {
    let Some(mut it) = given(&["http-hello-world.json"]) else {
        return;
    };
    assert_eq!(
        status_and_body(&mut it, &request("GET", "/hello-world")),
        (200, "Hello World!".into())
    );
}

#[test]
pub(crate) fn an_endpoint_goes_on_into_another_workflow() {
    let Some(mut it) = given(&[
        "CacheInvalidation_Parent.json",
        "CacheInvalidation_Child.json",
    ]) else {
        return;
    };
    it.request(&request("GET", "/test-cache-invalidation"))
        .unwrap()
        .is(finished());
    assert_eq!(
        it.instance().correlation_id.as_deref(),
        Some("Child version 1")
    );
}

const NESTED: [&str; 3] = [
    "workflow-definition-parent.json",
    "workflow-definition-child.json",
    "workflow-definition-grand-child.json",
];

#[test]
pub(crate) fn nested_workflows_answer_many_requests_at_once() {
    if corpus::shared().is_none() {
        return;
    }
    // Four callers at once, and nothing is remembered from one request to the next.
    let callers = (0..4).map(|_| {
        thread::spawn(|| {
            for _ in 0..50 {
                let mut it = given(&NESTED).unwrap();
                let seen = it.request(&request("POST", "/parent")).unwrap();
                seen.is(finished().lines(&["Grand Child"]));
            }
        })
    });
    let callers: Vec<_> = callers.collect();
    for caller in callers {
        caller.join().unwrap();
    }
}

#[test]
pub(crate) fn the_same_path_twice_is_the_same_stimulus() {
    let Some(file) = corpus::file("ImportAndPublish__Workflows__http-workflow.json") else {
        return;
    };
    let mut host = Host::default();
    let definition = host.add_text(&file);
    let mut copy = (*definition).clone();
    copy.identify("copy", "copy-v1", 1);
    let environment = Environment::new(BEGIN, &host.expressions);
    let hashes = |definition| {
        let graph = host.library.compile(definition, &host.expressions);
        let triggers = graph.triggers(&environment).unwrap();
        triggers.into_iter().map(|t| t.hash).collect::<Vec<_>>()
    };
    assert_eq!(hashes(&definition).len(), 1);
    assert_eq!(hashes(&definition), hashes(&copy));
}

#[test]
fn a_response_without_a_request_fails() {
    let mut it = Scenario::of(&workflow(
        "http",
        activity("Elsa.WriteHttpResponse").input("content", "x"),
    ));
    it.start();
    let exception = it.instance().incidents[0].exception.clone().unwrap();
    assert_eq!(exception.metadata["code"], "NoHttpContext");
}
