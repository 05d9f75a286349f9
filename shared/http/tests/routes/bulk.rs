//! Many at once: what there is is done, what there is not is told apart.

use serde_json::json;

use crate::server::{Server, waiting};

#[tokio::test]
async fn definitions_are_published_retracted_exported_and_deleted_many_at_once() {
    let server = Server::new();
    let mut versions = Vec::new();
    for id in ["a", "b"] {
        let saved = server
            .post("/workflow-definitions", &json!({ "model": waiting(id) }))
            .await
            .ok(200);
        versions.push(saved["workflowDefinition"]["id"].clone());
    }
    let all = json!({ "definitionIds": ["a", "b", "none"] });
    let path = |verb: &str, tail: &str| format!("/bulk-actions/{verb}/workflow-definitions{tail}");
    let publish = path("publish", "/by-definition-ids");
    let done = server.post(&publish, &all).await.ok(200);
    assert_eq!(
        (&done["published"], &done["notFound"]),
        (&json!(["a", "b"]), &json!(["none"]))
    );
    let again = server.post(&publish, &all).await.ok(200);
    assert_eq!(again["alreadyPublished"], json!(["a", "b"]));
    let zip = server
        .post(&path("export", ""), &json!({ "ids": versions }))
        .await;
    assert_eq!(zip.header("content-type"), "application/octet-stream");
    assert!(zip.body.starts_with(b"PK"));
    let retract = path("retract", "/by-definition-ids");
    let done = server.post(&retract, &all).await.ok(200);
    assert_eq!(
        (&done["retracted"], &done["notFound"]),
        (&json!(["a", "b"]), &json!(["none"]))
    );
    let done = server
        .post(
            &path("delete", "/by-id"),
            &json!({ "ids": [versions[0], "none"] }),
        )
        .await
        .ok(200);
    assert_eq!(done["deleted"], 1);
    let done = server
        .post(&path("delete", "/by-definition-id"), &all)
        .await
        .ok(200);
    assert!(done["deleted"].as_u64().unwrap() >= 1, "{done}");
    assert_eq!(
        server
            .get("/workflow-definitions/query/count")
            .await
            .ok(200)["count"],
        0
    );
    let many: Vec<String> = (0..1_001).map(|n| n.to_string()).collect();
    server
        .post(&publish, &json!({ "definitionIds": many }))
        .await
        .problem(400, "badParameter");
}

#[tokio::test]
async fn instances_are_cancelled_and_deleted_many_at_once() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let start = json!({ "definitionId": "w" });
        let started = server.post("/workflow-starts", &start).await.ok(201);
        ids.push(started["id"].clone());
    }
    let cancel = "/bulk-actions/cancel/workflow-instances";
    let done = server
        .post(cancel, &json!({ "ids": [ids[0], "none"] }))
        .await
        .ok(200);
    assert_eq!(done["cancelled"], 1);
    let done = server
        .post(
            cancel,
            &json!({ "definitionId": "w", "versionOptions": "Latest" }),
        )
        .await
        .ok(200);
    assert_eq!(done["cancelled"], 2);
    let done = server
        .post(
            "/bulk-actions/delete/workflow-instances/by-id",
            &json!({ "ids": [ids[0], "none"] }),
        )
        .await
        .ok(200);
    assert_eq!(done["deleted"], 1);
    let done = server
        .post(
            "/bulk-actions/delete/workflow-instances",
            &json!({ "workflowDefinitionId": "w" }),
        )
        .await
        .ok(200);
    assert_eq!(done["deleted"], 2);
}

#[tokio::test]
async fn one_request_starts_many_instances() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let path = "/workflow-definitions/w/bulk-dispatch";
    let started = server.post(path, &json!({ "count": 3 })).await.ok(200);
    let ids = started["workflowInstanceIds"].as_array().unwrap();
    assert_eq!(ids.len(), 3);
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
    server
        .post(path, &json!({ "count": 1_001 }))
        .await
        .problem(400, "badParameter");
    server
        .post(
            "/workflow-definitions/none/bulk-dispatch",
            &json!({ "count": 1 }),
        )
        .await
        .problem(404, "noSuchDefinition");
}
