//! One activity tried by itself, and what the node says of itself.

use serde_json::{Value, json};

use crate::server::{Server, literal, sequence};

async fn test(server: &Server, activity: &str) -> Value {
    let body = json!({
        "workflowDefinitionHandle": { "definitionId": "w" },
        "activityHandle": { "activityId": activity },
    });
    server.post("/tests/activities", &body).await.ok(200)
}

#[tokio::test]
async fn an_activity_is_tried_without_an_instance_and_without_effects() {
    let server = Server::new();
    let script = |text: &str| json!({ "typeName": "Object", "expression": { "type": "JavaScript", "value": text } });
    let mut model = sequence(
        "w",
        json!([
            { "type": "Elsa.RunJavaScript", "id": "sum", "script": script("return getN() + 2") },
            { "type": "Elsa.WriteLine", "id": "bad", "text": script("nothing.at.all") },
            { "type": "Elsa.Event", "id": "go", "eventName": literal("String", &"Go".into()) },
            { "type": "Elsa.PublishEvent", "id": "tell", "eventName": literal("String", &"Go".into()) },
        ]),
    );
    model["variables"] = json!([{ "id": "n", "name": "N", "typeName": "Int32", "value": "40" }]);
    server
        .post("/workflow-definitions", &json!({ "model": model }))
        .await
        .ok(200);
    let sum = test(&server, "sum").await;
    assert_eq!(
        (&sum["status"], &sum["outputs"]["Result"]),
        (&"Completed".into(), &42.into()),
        "{sum}"
    );
    let bad = test(&server, "bad").await;
    assert_eq!(bad["status"], "Faulted");
    assert!(bad["exception"]["message"].is_string(), "{bad}");
    assert_eq!(test(&server, "go").await["status"], "Running");
    assert_eq!(test(&server, "tell").await["status"], "Completed");
    assert_eq!(
        server.get("/workflow-instances").await.ok(200)["totalCount"],
        0
    );
}

#[tokio::test]
async fn what_there_is_not_cannot_be_tried() {
    let server = Server::new();
    server.publish(crate::server::waiting("w")).await;
    let named = json!({ "activityId": "go" });
    let unknown = json!({ "activityId": "none" });
    for (workflow, activity, code) in [
        (json!({}), &named, "badParameter"),
        (json!({ "definitionId": "none" }), &named, "invalidRequest"),
        (json!({ "definitionId": "w" }), &unknown, "badParameter"),
        (json!({ "definitionId": "w" }), &json!({}), "badParameter"),
    ] {
        let body = json!({ "workflowDefinitionHandle": workflow, "activityHandle": activity });
        server
            .post("/tests/activities", &body)
            .await
            .problem(400, code);
    }
}

#[tokio::test]
async fn the_status_is_told_while_the_node_drains_too() {
    let server = Server::new();
    let path = "/admin/workflow-runtime/status";
    assert_eq!(
        server.get(path).await.ok(200)["state"]["isAcceptingNewWork"],
        true
    );
    server.app.drain();
    assert_eq!(server.get(path).await.ok(200)["state"]["reason"], "Drain");
    server
        .get("/workflow-instances")
        .await
        .problem(503, "draining");
}
