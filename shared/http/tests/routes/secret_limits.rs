//! Secrets: their limits, changes at the same time, and servers without them.

use std::sync::Arc;

use dormouse_http::HttpConfig;
use dormouse_store::MemoryTable;
use futures_util::future::join_all;
use serde_json::json;

use crate::leaks::{Lines, is_nowhere_in};
use crate::secrets::{Echo, VALUE, set, world};
use crate::server::{Server, literal, sequence};
use crate::vault::TestVault;

/// The routes with a body that they take.
const ROUTES: [(&str, &str, &str); 11] = [
    ("GET", "/secrets", ""),
    (
        "POST",
        "/secrets",
        r#"{"name":"shop","value":"s3cret value"}"#,
    ),
    ("GET", "/secrets/descriptors", ""),
    ("POST", "/secrets/picker", "{}"),
    ("GET", "/secrets/shop", ""),
    ("POST", "/secrets/shop", "{}"),
    ("POST", "/secrets/shop/revoke", "{}"),
    (
        "POST",
        "/secrets/shop/rotate",
        r#"{"value":"s3cret value"}"#,
    ),
    ("POST", "/secrets/shop/test", "{}"),
    ("POST", "/secret-keys/rotate", "{}"),
    ("DELETE", "/secrets/shop", ""),
];

#[tokio::test]
async fn a_server_whose_steps_name_no_secrets_says_so_on_every_route() {
    // As the functions on AWS are: nobody allowed secrets.
    let server = Server::with_secrets(
        (Arc::<MemoryTable>::default(), Arc::new(TestVault::new())),
        HttpConfig::default(),
        Arc::<Echo>::default(),
        Arc::<Lines>::default(),
    );
    for (method, path, body) in ROUTES {
        let request = axum::http::Request::builder()
            .method(method)
            .uri(format!("/elsa/api{path}"))
            .header("content-type", "application/json")
            .body(body.to_owned().into());
        let answer = server.send(request.unwrap()).await;
        answer.problem(501, "notHere");
    }
    let activities = json!([{ "type": "Elsa.WriteLine", "id": "line", "text": { "typeName": "String",
        "expression": { "type": "Secret", "value": "shop" } } }]);
    let save = json!({ "model": sequence("names", activities), "publish": true });
    server.post("/workflow-definitions", &save).await.ok(200);
    let path = "/workflow-definitions/names/execute";
    let started = server.post(path, &json!({})).await.ok(500);
    let state = &started["workflowState"];
    assert_eq!(state["subStatus"], "Faulted");
    let told = "the secret 'shop' cannot be named here: this server has no secrets";
    assert!(state.to_string().contains(told), "{state:#}");
}

#[tokio::test]
async fn a_value_of_another_type_is_rejected_and_not_repeated() {
    let server = world().await.server;
    for wrong in [
        json!({ "name": "pin", "value": 246_813_579 }),
        json!({ "name": "pin", "value": ["246813579"] }),
        json!({ "name": "pin", "value": { "is": "246813579" } }),
        json!({ "name": "pin", "value": "246813579", "tags": 5 }),
    ] {
        let answer = server.post("/secrets", &wrong).await;
        assert_eq!(answer.status, 400, "{wrong}");
        let said = String::from_utf8_lossy(&answer.body).into_owned();
        is_nowhere_in(&["246813579"], "the answer", &said);
    }
}

#[tokio::test]
async fn of_several_changes_at_a_time_each_counts_once() {
    let server = world().await.server;
    let new = json!({ "name": "shop", "value": VALUE });
    let made = join_all((0..4).map(|_| server.post("/secrets", &new))).await;
    let mut statuses: Vec<u16> = made.iter().map(|answer| answer.status.into()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409]);
    let other = json!({ "value": "another value" });
    let rotated = join_all((0..4).map(|_| server.post("/secrets/shop/rotate", &other))).await;
    let done = rotated.iter().filter(|answer| answer.status == 200).count();
    assert!(done > 0);
    let secret = server.get("/secrets/shop").await.ok(200);
    assert_eq!(secret["currentVersion"], 1 + done);
    let tested = server.post("/secrets/shop/test", &json!({})).await.ok(200);
    assert_eq!(
        tested["succeeded"], true,
        "the version is part of what is sealed"
    );
}

#[tokio::test]
async fn values_of_a_tenant_have_a_bound_together_and_so_has_what_they_make_of_a_request() {
    let world = world().await;
    let server = &world.server;
    let large = "x".repeat(65_000);
    for n in 0..16 {
        set(server, &format!("large-{n}"), &large).await;
    }
    let one_more = json!({ "name": "one-more", "value": large });
    let one_more = server.post("/secrets", &one_more).await;
    one_more.problem(409, "tooMany");
    set(server, "small", "a value").await;
    let grows = json!({ "value": large });
    let grows = server.post("/secrets/small/rotate", &grows).await;
    grows.problem(409, "tooMany");
    let again = json!({ "value": large });
    let again = server.post("/secrets/large-3/rotate", &again).await;
    assert_eq!(again.ok(200)["currentVersion"], 2, "it takes its own place");

    let activities = json!([{ "type": "Elsa.SendHttpRequest", "id": "call",
        "url": literal("Uri", &"https://shop.example/".into()), "method": literal("String", &"POST".into()),
        "contentType": literal("String", &"text/plain".into()),
        "content": { "typeName": "String", "expression": { "type": "JavaScript", "value": "(await getSecret('large-1')).repeat(200)" } } }]);
    let save = json!({ "model": sequence("grows", activities), "publish": true });
    server.post("/workflow-definitions", &save).await.ok(200);
    let path = "/workflow-definitions/grows/execute";
    let started = server.post(path, &json!({})).await.ok(500);
    let state = &started["workflowState"];
    assert_eq!(state["subStatus"], "Faulted");
    assert!(
        state
            .to_string()
            .contains("more than 8388608 bytes together"),
        "{state:#}"
    );
    assert!(world.echo.0.lock().unwrap().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn a_task_whose_secret_is_missing_fails_and_is_handed_to_nobody() {
    let server = world().await.server;
    let ty = json!({ "inputs": [{ "name": "card", "type": "String" }], "retry": { "maxAttempts": 1 },
        "handler": { "kind": "worker", "queue": "q" } });
    let put = axum::http::Request::put("/elsa/api/activity-types/Acme.Pay")
        .header("content-type", "application/json")
        .body(ty.to_string().into());
    server.send(put.unwrap()).await.ok(201);
    let card =
        json!({ "typeName": "String", "expression": { "type": "Secret", "value": "nosuch" } });
    let activities = json!([{ "type": "Acme.Pay", "id": "pay", "card": card }]);
    let save = json!({ "model": sequence("pays", activities), "publish": true });
    server.post("/workflow-definitions", &save).await.ok(200);
    let path = "/workflow-definitions/pays/execute";
    let started = server.post(path, &json!({})).await.ok(200);
    let id = started["workflowState"]["id"].as_str().unwrap();
    let poll = json!({ "queue": "q", "types": ["Acme.Pay"], "workerId": "w", "waitMs": 1_000 });
    let polled = server.post("/tasks/poll", &poll).await.ok(200);
    assert_eq!(polled["tasks"], json!([]));
    let path = format!("/workflow-instances/{id}");
    let instance = server.get(&path).await.ok(200);
    assert_eq!(instance["subStatus"], "Faulted", "{instance:#}");
    let told = "there is no secret `nosuch`";
    assert!(instance.to_string().contains(told), "{instance:#}");
}
