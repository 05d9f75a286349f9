//! What strangers learn and do through public endpoints: nothing about instances that are not theirs, and nothing to the
//! console's origin.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::access::{ask, key, server};
use crate::server::{Answered, Server, literal, sequence, waiting};

/// A workflow at a public path, which answers with such headers.
fn public(path: &str, headers: &Value) -> Value {
    sequence(
        path,
        json!([
            { "type": "Elsa.HttpEndpoint", "id": "in", "customProperties": { "canStartWorkflow": true },
              "path": literal("String", &path.into()),
              "supportedMethods": { "typeName": "String[]", "expression": { "type": "Object", "value": "[\"POST\"]" } } },
            { "type": "Elsa.WriteHttpResponse", "id": "out", "content": literal("String", &"x".into()),
              "responseHeaders": { "typeName": "HttpHeaders", "expression": { "type": "Object", "value": headers.to_string() } } },
        ]),
    )
}

async fn call(server: &Server, path: &str, instance: &str) -> Answered {
    let request =
        Request::post(format!("/workflows/{path}")).header("x-workflow-instance-id", instance);
    server.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn a_public_endpoint_tells_strangers_nothing_of_other_instances() {
    let server = server();
    let admin = key(&server, "default", &["*"]).await;
    let send =
        async |path: &str, body: Value| ask(&server, Some(&admin), "POST", path, &body).await;
    for model in [waiting("secret"), public("open", &json!({}))] {
        send(
            "/workflow-definitions",
            json!({ "model": model, "publish": true }),
        )
        .await
        .ok(200);
    }
    let started = send("/workflow-starts", json!({ "definitionId": "secret" })).await;
    let secret = started.ok(201)["id"].as_str().unwrap().to_owned();
    call(&server, "open", &secret)
        .await
        .problem(404, "noWorkflowListens");
    let delete = format!("/workflow-instances/{secret}");
    let cancel = format!("/cancel/workflow-instances/{secret}");
    send(&cancel, json!({})).await;
    ask(&server, Some(&admin), "DELETE", &delete, &json!({})).await;
    call(&server, "open", &secret)
        .await
        .problem(404, "noWorkflowListens");
    // A repetition is still told that it is one.
    assert_eq!(call(&server, "open", "mine").await.body, b"x");
    let again = call(&server, "open", "mine").await.ok(200);
    assert_eq!(
        again,
        json!({ "workflowInstanceId": "mine", "isRepeated": true })
    );
}

#[tokio::test]
async fn a_workflow_sets_no_header_that_is_about_the_whole_origin() {
    let server = Server::new();
    let headers = json!({
        "Set-Cookie": "a=1", "Clear-Site-Data": "\"*\"", "NEL": "{}", "Report-To": "{}", "Alt-Svc": "h3=\":1\"",
        "Strict-Transport-Security": "max-age=1", "Service-Worker-Allowed": "/", "WWW-Authenticate": "Basic",
        "X-Content-Type-Options": "off", "X-Order": "7", "Location": "/x", "Cache-Control": "max-age=60",
    });
    server.publish(public("open", &headers)).await;
    let answer = call(&server, "open", "i").await;
    for name in [
        "set-cookie",
        "clear-site-data",
        "nel",
        "report-to",
        "alt-svc",
        "strict-transport-security",
        "service-worker-allowed",
        "www-authenticate",
    ] {
        assert!(!answer.headers.contains_key(name), "{name}");
    }
    let kept = [
        "x-order",
        "location",
        "cache-control",
        "x-content-type-options",
    ];
    let kept = kept.map(|name| answer.header(name).to_owned());
    assert_eq!(kept, ["7", "/x", "max-age=60", "nosniff"]);
}

#[tokio::test]
async fn answers_of_the_api_are_not_sniffed_and_not_stored() {
    let server = Server::new();
    for path in [
        "/elsa/api/workflow-definitions",
        "/elsa/api/nowhere",
        "/nowhere",
    ] {
        let answer = server.ask("GET", path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        if path.starts_with("/elsa") && answer.status == 200 {
            assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        }
    }
    assert_eq!(
        server
            .ask("GET", "/health/live")
            .await
            .header("x-content-type-options"),
        "nosniff"
    );
}

#[tokio::test]
async fn a_get_that_starts_is_not_taken_from_a_page_of_another_site() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let ask = |site: &str| {
        let request = Request::get("/elsa/api/workflow-definitions/w/execute")
            .header("host", "localhost:7070")
            .header("sec-fetch-site", site);
        server.send(request.body(Body::empty()).unwrap())
    };
    for site in ["cross-site", "same-site"] {
        ask(site).await.problem(403, "foreignPage");
    }
    let list = server.get("/workflow-instances").await.ok(200);
    assert_eq!(list["totalCount"], 0);
    ask("same-origin").await.ok(200);
}

#[tokio::test]
async fn where_https_is_demanded_nothing_else_is_taken() {
    let server = Server::with(dormouse_http::HttpConfig {
        requires_https: true,
        proxies: 1,
        ..dormouse_http::HttpConfig::default()
    });
    let ask = |path: &str, schemes: &[&str]| {
        let mut request = Request::get(path);
        for scheme in schemes {
            request = request.header("x-forwarded-proto", *scheme);
        }
        server.send(request.body(Body::empty()).unwrap())
    };
    let list = "/elsa/api/workflow-definitions";
    for refused in [&[][..], &["http"], &["https", "http"], &["https, http"]] {
        ask(list, refused).await.problem(403, "httpsRequired");
    }
    let taken = ask(list, &["https"]).await;
    taken.ok(200);
    let remembered = taken.header("strict-transport-security");
    assert!(remembered.starts_with("max-age="));
    ask("/health/live", &[]).await.ok(200);
}

#[tokio::test]
async fn clients_that_take_json_alone_get_no_problem_where_elsa_has_no_body() {
    let server = server();
    let reader = key(&server, "default", &["read:workflow-instances"]).await;
    let get = async |path: &str, accept: &str| {
        let request = Request::get(format!("/elsa/api{path}"))
            .header("authorization", format!("ApiKey {reader}"))
            .header("accept", accept);
        server.send(request.body(Body::empty()).unwrap()).await
    };
    for (path, status, code) in [
        ("/identity/users", 403, "forbidden"),
        ("/nowhere", 404, "noSuchRoute"),
    ] {
        let silent = get(path, "application/json").await;
        assert_eq!((silent.status.as_u16(), &*silent.body), (status, &b""[..]));
        for accept in ["*/*", "application/json, application/problem+json"] {
            get(path, accept).await.problem(status, code);
        }
    }
}
