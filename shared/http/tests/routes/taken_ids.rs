//! Starts under an id that an instance has already.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::access::{ask, key, server};
use crate::server::{Answered, Server, waiting};

const EXECUTE: &str = "exec:workflow-definitions";

/// A server with two workflows, an instance of the first one, and two keys: of somebody who may read instances, and of
/// somebody who may only start them.
async fn with_an_instance() -> (Server, String, String) {
    let server = server();
    let admin = key(&server, "default", &["*"]).await;
    let starter = key(&server, "default", &[EXECUTE]).await;
    for id in ["first", "second"] {
        let save = json!({ "model": waiting(id), "publish": true });
        ask(
            &server,
            Some(&admin),
            "POST",
            "/workflow-definitions",
            &save,
        )
        .await
        .ok(200);
    }
    let start =
        json!({ "definitionId": "first", "id": "mine", "input": { "Salary": "confidential" } });
    ask(&server, Some(&admin), "POST", "/workflow-starts", &start)
        .await
        .ok(201);
    (server, admin, starter)
}

/// Every way to start an instance of a workflow under an id.
async fn starts(server: &Server, key: &str, definition: &str, id: &str) -> Vec<Answered> {
    let execute = format!("/workflow-definitions/{definition}/execute");
    let dispatch = format!("/workflow-definitions/{definition}/dispatch");
    let of_id = json!({ "instanceId": id });
    let start = json!({ "definitionId": definition, "id": id });
    let get = format!("{execute}?instanceId={id}");
    vec![
        ask(server, Some(key), "POST", &execute, &of_id).await,
        ask(server, Some(key), "GET", &get, &Value::Null).await,
        ask(server, Some(key), "POST", "/workflow-starts", &start).await,
        ask(server, Some(key), "POST", &dispatch, &of_id).await,
    ]
}

#[tokio::test]
async fn a_start_under_the_id_of_another_workflows_instance_is_refused() {
    let (server, admin, starter) = with_an_instance().await;
    for key in [&admin, &starter] {
        for answer in starts(&server, key, "second", "mine").await {
            let problem = answer.problem(409, "idTaken");
            assert!(!problem.to_string().contains("confidential"));
        }
    }
    let list = "/workflow-instances";
    let list = ask(&server, Some(&admin), "GET", list, &Value::Null).await;
    assert_eq!(list.ok(200)["totalCount"], 1);
}

#[tokio::test]
async fn a_start_that_was_made_before_shows_the_instance_to_those_who_may_read_it() {
    let (server, admin, starter) = with_an_instance().await;
    let told = json!({ "id": "mine", "workflowInstanceId": "mine", "isRepeated": true });
    let answers = starts(&server, &starter, "first", "mine").await;
    for answer in &answers[..3] {
        assert_eq!(answer.ok(200), told);
    }
    assert_eq!(answers[0].header("x-elsa-workflow-instance-id"), "mine");
    assert_eq!(answers[3].ok(200), json!({ "workflowInstanceId": "mine" }));

    let answers = starts(&server, &admin, "first", "mine").await;
    for answer in &answers[..2] {
        assert_eq!(answer.ok(200)["workflowState"]["id"], "mine");
    }
    let again = answers[2].ok(200);
    assert_eq!(
        (&again["isRepeated"], &again["subStatus"]),
        (&json!(true), &json!("Suspended"))
    );
}

#[tokio::test]
async fn a_key_that_is_used_for_two_workflows_starts_both() {
    let (server, _, starter) = with_an_instance().await;
    let start = async |definition: &str| {
        let path = format!("/elsa/api/workflow-definitions/{definition}/execute");
        let request = Request::post(path)
            .header("authorization", format!("ApiKey {starter}"))
            .header("content-type", "application/json")
            .header("idempotency-key", "order 7");
        server.send(request.body(Body::from("{}")).unwrap()).await
    };
    let first = start("first").await.ok(200);
    let second = start("second").await.ok(200);
    assert_ne!(first["workflowState"]["id"], second["workflowState"]["id"]);
}
