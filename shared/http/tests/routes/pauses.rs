//! The pause: who may begin and end it, what is refused while it lasts and in which words.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::access::{ask, key, server};
use crate::server::{Server, literal, sequence, waiting};

const RUNTIME: &str = "/admin/workflow-runtime";

async fn pause(server: &Server) -> Value {
    let body = json!({ "reason": "moving house" });
    server
        .post(&format!("{RUNTIME}/pause"), &body)
        .await
        .ok(200)["state"]
        .clone()
}

async fn resume(server: &Server) -> Value {
    let path = format!("{RUNTIME}/resume");
    server.post(&path, &json!({})).await.ok(200)["state"].clone()
}

#[tokio::test]
async fn a_pause_is_told_as_elsa_tells_it_and_stays_as_it_began() {
    let server = Server::new();
    let begun = pause(&server).await;
    assert_eq!(begun["reason"], "AdministrativePause");
    assert_eq!(begun["isAcceptingNewWork"], false);
    assert_eq!(begun["pauseReasonText"], "moving house");
    assert!(begun["pausedAt"].is_string() && begun["pauseRequestedBy"].is_string());
    let again = json!({ "reason": "another" });
    let again = server
        .post(&format!("{RUNTIME}/pause"), &again)
        .await
        .ok(200);
    assert_eq!(again["state"], begun);
    let status = server.get(&format!("{RUNTIME}/status")).await.ok(200);
    assert_eq!(status["state"], begun);
    assert_eq!(status["sources"][0]["state"], "Paused");
    for _ in 0..2 {
        let state = resume(&server).await;
        assert_eq!(
            (&state["reason"], &state["isAcceptingNewWork"]),
            (&json!("None"), &json!(true))
        );
        assert_eq!(state["pausedAt"], Value::Null);
    }
    let long = json!({ "reason": "x".repeat(1_001) });
    server
        .post(&format!("{RUNTIME}/pause"), &long)
        .await
        .problem(400, "badParameter");
    server
        .post(&format!("{RUNTIME}/pause"), &json!({ "reason": 7 }))
        .await
        .problem(400, "wrongShape");
    let status = server.get(&format!("{RUNTIME}/status")).await.ok(200);
    assert_eq!(status["state"]["reason"], "None");
}

#[tokio::test]
async fn what_would_start_or_wake_is_refused_and_everything_else_goes_on() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let started = server
        .post("/workflow-starts", &json!({ "definitionId": "w" }))
        .await
        .ok(201);
    let id = started["id"].as_str().unwrap();
    let bookmark = started["bookmarks"][0]["id"].as_str().unwrap();
    pause(&server).await;
    let instance = format!("/workflow-instances/{id}");
    for (path, body) in [
        (
            "/workflow-starts".to_owned(),
            json!({ "definitionId": "w" }),
        ),
        ("/workflow-definitions/w/execute".to_owned(), json!({})),
        ("/workflow-definitions/w/dispatch".to_owned(), json!({})),
        (
            "/workflow-definitions/w/bulk-dispatch".to_owned(),
            json!({ "count": 3 }),
        ),
        (
            format!("{instance}/resume"),
            json!({ "bookmarkId": bookmark }),
        ),
        (
            "/bookmarks/resume".to_owned(),
            json!({ "workflowInstanceId": id, "bookmarkId": bookmark }),
        ),
        ("/events/Go/trigger".to_owned(), json!({})),
        (
            "/events/Go/trigger".to_owned(),
            json!({ "workflowExecutionMode": "Synchronous" }),
        ),
        (
            format!("/tasks/{id}.{bookmark}/complete"),
            json!({ "result": 1 }),
        ),
        (
            "/alterations/workflows/retry".to_owned(),
            json!({ "workflowInstanceIds": [id] }),
        ),
        (
            "/alterations/run".to_owned(),
            json!({ "alterations": [{ "type": "CancelActivity", "activityId": "go" }], "workflowInstanceIds": [id] }),
        ),
    ] {
        let answered = server.post(&path, &body).await;
        let problem = answered.problem(503, "paused");
        assert_eq!(answered.header("retry-after"), "30", "{path}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("ManageWorkflowRuntime"), "{path}: {detail}");
    }
    let found = server
        .post("/workflow-instances", &json!({ "page": 0 }))
        .await
        .ok(200);
    assert_eq!(found["totalCount"], 1);
    assert_eq!(
        server.get(&instance).await.ok(200)["subStatus"],
        "Suspended"
    );
    server.publish(waiting("other")).await;

    resume(&server).await;
    let path = format!("{instance}/resume");
    let resumed = server
        .post(&path, &json!({ "bookmarkId": bookmark }))
        .await
        .ok(200);
    assert_eq!(resumed["subStatus"], "Finished");
}

#[tokio::test]
async fn requests_and_people_with_links_are_told_to_come_back() {
    let server = Server::new();
    let endpoint = json!([
        { "type": "Elsa.HttpEndpoint", "id": "in", "path": literal("String", &"hi".into()),
          "supportedMethods": { "typeName": "String[]", "expression": { "type": "Object", "value": "[\"GET\"]" } },
          "customProperties": { "canStartWorkflow": true } },
        { "type": "Elsa.WriteHttpResponse", "id": "out" },
    ]);
    server.publish(sequence("web", endpoint)).await;
    assert_eq!(server.ask("GET", "/workflows/hi").await.status, 200);
    server.publish(waiting("w")).await;
    let started = server
        .post("/workflow-starts", &json!({ "definitionId": "w" }))
        .await
        .ok(201);
    let (id, bookmark) = (
        started["id"].as_str().unwrap(),
        started["bookmarks"][0]["id"].as_str().unwrap(),
    );
    let path = format!("/workflow-instances/{id}/bookmarks/{bookmark}/links");
    let made = server.post(&path, &json!({})).await.ok(201);
    let url = made["url"].as_str().unwrap();
    let link = &url[url.find("/links/").unwrap()..];
    pause(&server).await;

    server
        .ask("GET", "/workflows/hi")
        .await
        .problem(503, "paused");
    // Looking is no answer.
    assert_eq!(server.ask("GET", link).await.status, 200);
    let press = || {
        Request::builder()
            .method("POST")
            .uri(link)
            .header("origin", "null")
    };
    let page = server.send(press().body(Body::empty()).unwrap()).await;
    assert_eq!(
        (page.status.as_u16(), page.header("retry-after")),
        (503, "30")
    );
    let text = String::from_utf8(page.body.clone()).unwrap();
    assert!(text.contains("Come back later"), "{text}");

    resume(&server).await;
    assert_eq!(server.ask("GET", "/workflows/hi").await.status, 200);
    let page = server.send(press().body(Body::empty()).unwrap()).await;
    assert_eq!(page.status, 200);
    let instance = server
        .get(&format!("/workflow-instances/{id}"))
        .await
        .ok(200);
    assert_eq!(instance["subStatus"], "Finished");
}

#[tokio::test]
async fn a_pause_is_for_those_who_have_the_deployment_and_is_recorded() {
    let server = server();
    let path = format!("{RUNTIME}/pause");
    let tenant = key(&server, "acme", &["*"]).await;
    ask(&server, Some(&tenant), "POST", &path, &json!({}))
        .await
        .problem(403, "notYourDeployment");
    let reader = key(&server, "default", &["read:workflow-runtime"]).await;
    ask(&server, Some(&reader), "POST", &path, &json!({}))
        .await
        .problem(403, "forbidden");
    let operator = key(&server, "default", &["ManageWorkflowRuntime", "read:audit"]).await;
    ask(&server, Some(&operator), "POST", &path, &json!({}))
        .await
        .ok(200);
    // It holds for every tenant.
    let start = json!({ "definitionId": "w" });
    ask(&server, Some(&tenant), "POST", "/workflow-starts", &start)
        .await
        .problem(503, "paused");
    let end = format!("{RUNTIME}/resume");
    ask(&server, Some(&tenant), "POST", &end, &json!({}))
        .await
        .problem(403, "notYourDeployment");
    ask(&server, Some(&operator), "POST", &end, &json!({}))
        .await
        .ok(200);
    ask(&server, Some(&tenant), "POST", "/workflow-starts", &start)
        .await
        .problem(404, "noSuchDefinition");
    let audit = ask(&server, Some(&operator), "GET", "/audit", &json!({}))
        .await
        .ok(200);
    let actions: Vec<&str> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["action"].as_str().unwrap())
        .collect();
    assert!(
        actions.contains(&"pause") && actions.contains(&"unpause"),
        "{actions:?}"
    );
}
