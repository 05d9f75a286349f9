//! Webhooks: what is signed becomes an event, once; whatever is not looks the same.

use axum::body::Body;
use axum::http::Request;
use dormouse_identity::webhook::sign;
use serde_json::{Value, json};

use crate::access::{ask, key, server as asking};
use crate::server::{Answered, Server, waiting};

fn now_s() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

/// Sends a message with these headers.
async fn send(server: &Server, path: &str, headers: [&str; 3], body: &str) -> Answered {
    let [id, timestamp, signature] = headers;
    let request = Request::builder()
        .method("POST")
        .uri(path)
        .header("webhook-id", id)
        .header("webhook-timestamp", timestamp)
        .header("webhook-signature", signature);
    let body = Body::from(body.to_owned());
    server.send(request.body(body).unwrap()).await
}

/// Sends a message as its sender does.
async fn signed(server: &Server, made: &Value, id: &str, body: &str) -> Answered {
    let (at, secret) = (now_s(), made["secret"].as_str().unwrap());
    let mark = sign(secret, id, at, body.as_bytes()).unwrap();
    let path = made["path"].as_str().unwrap();
    send(server, path, [id, &at.to_string(), &mark], body).await
}

async fn start(server: &Server, correlation: &str) -> String {
    let body = json!({ "definitionId": "w", "correlationId": correlation });
    let started = server.post("/workflow-starts", &body).await.ok(201);
    started["id"].as_str().unwrap().to_owned()
}

async fn status(server: &Server, id: &str) -> Value {
    let path = format!("/workflow-instances/{id}");
    server.get(&path).await.ok(200)["subStatus"].clone()
}

/// Waits until an instance stands so: events are delivered in the background.
async fn stands(server: &Server, id: &str, sub_status: &str) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while status(server, id).await != sub_status {
        assert!(
            std::time::Instant::now() < until,
            "{id} is not {sub_status}"
        );
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_signed_message_wakes_whom_it_is_for_and_counts_once() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let make = json!({ "eventName": "Go", "correlationPointer": "/data/order" });
    let made = server.post("/webhooks", &make).await.ok(201);
    let (first, other) = (start(&server, "7").await, start(&server, "8").await);
    let body = r#"{"type":"paid","data":{"order":7}}"#;
    let taken = signed(&server, &made, "msg_1", body).await.ok(202);
    stands(&server, &first, "Finished").await;
    let path = format!("/activity-executions/list?workflowInstanceId={first}");
    let records = server.get(&path).await.ok(200);
    let mut go = records["items"].as_array().unwrap().iter();
    let go = go.find(|r| r["activityId"] == "go").unwrap();
    assert_eq!(go["outputs"]["Result"]["type"], "paid", "{go:#}");

    // The same message again, as its sender repeats it: the next instance of that order is not woken by it.
    let next = start(&server, "7").await;
    let again = signed(&server, &made, "msg_1", body).await.ok(202);
    assert_eq!(again, taken);
    signed(&server, &made, "msg_2", r#"{"data":{"order":"8"}}"#)
        .await
        .ok(202);
    stands(&server, &other, "Finished").await;
    assert_eq!(status(&server, &next).await, "Suspended");
}

#[tokio::test]
async fn what_is_not_signed_is_refused_and_it_is_not_told_why() {
    let server = Server::new();
    let made = server
        .post("/webhooks", &json!({ "eventName": "Go" }))
        .await
        .ok(201);
    let (path, secret) = (
        made["path"].as_str().unwrap(),
        made["secret"].as_str().unwrap(),
    );
    let (at, body) = (now_s(), "{}");
    let mark = |at: i64| sign(secret, "m", at, body.as_bytes()).unwrap();
    let other = sign("whsec_AAAA", "m", at, body.as_bytes()).unwrap();
    let (now, old, good) = (at.to_string(), (at - 400).to_string(), mark(at));
    let mut answers = Vec::new();
    for (path, headers, body) in [
        (path, ["m", now.as_str(), other.as_str()], body),
        (path, ["m", &now, ""], body),
        (path, ["n", &now, &good], body),
        (path, ["", &now, &good], body),
        (path, ["m", "soon", &good], body),
        (path, ["m", &old, &mark(at - 400)], body),
        (path, ["m", &now, &good], "{ }"),
        ("/webhooks/0000000000000000", ["m", &now, &good], body),
    ] {
        let refused = send(&server, path, headers, body).await;
        answers.push(refused.problem(401, "webhookNotTaken"));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    let listed = server.get("/webhooks").await.ok(200);
    assert_eq!(listed["totalCount"], 1);
    assert!(!listed.to_string().contains("whsec_"), "{listed}");
    send(&server, path, ["m", &now, &good], body).await.ok(202);
    let delete = format!("/elsa/api{path}");
    server.ask("DELETE", &delete).await.ok(204);
    send(&server, path, ["m", &now, &good], body)
        .await
        .problem(401, "webhookNotTaken");
}

#[tokio::test]
async fn a_webhook_is_its_tenants_own() {
    let server = asking();
    let (ours, theirs) = (
        key(&server, "acme", &["*"]).await,
        key(&server, "umbrella", &["*"]).await,
    );
    let make = json!({ "eventName": "Go" });
    let made = ask(&server, Some(&ours), "POST", "/webhooks", &make)
        .await
        .ok(201);
    let none = json!({});
    let listed = ask(&server, Some(&theirs), "GET", "/webhooks", &none).await;
    assert_eq!(listed.ok(200)["totalCount"], 0);
    let path = made["path"].as_str().unwrap();
    ask(&server, Some(&theirs), "DELETE", path, &none)
        .await
        .problem(404, "noSuchWebhook");
    signed(&server, &made, "m", "plain text").await.ok(202);
}

#[tokio::test]
async fn wrong_signatures_do_not_hold_up_right_ones() {
    let server = Server::new();
    let make = json!({ "eventName": "Go" });
    let made = server.post("/webhooks", &make).await.ok(201);
    let path = made["path"].as_str().unwrap();
    let now = now_s().to_string();
    let mut held_up = 0;
    for _ in 0..60 {
        let refused = send(&server, path, ["m", &now, "v1,AAAA"], "{}").await;
        held_up += usize::from(refused.status == 429);
    }
    assert!(held_up > 20, "{held_up}");
    signed(&server, &made, "m", "{}").await.ok(202);
    // Nor do they hold up who follows a link.
    let link = server.ask("GET", "/links/nothing").await;
    assert_eq!(link.status, 404);
}
