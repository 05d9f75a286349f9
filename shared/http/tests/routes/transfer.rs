//! Definitions and instances as files: several at once in, and out.

use dormouse_engine::http::{File, archive};
use serde_json::{Value, json};

use crate::server::{Server, waiting};

/// Many definitions at once.
const IMPORT_FILES: &str = "/workflow-definitions/import-files";

fn json_of(id: &str) -> Vec<u8> {
    waiting(id).to_string().into_bytes()
}

async fn count(server: &Server) -> Value {
    server
        .get("/workflow-definitions/query/count")
        .await
        .ok(200)["count"]
        .clone()
}

#[tokio::test]
async fn files_and_archives_of_definitions_become_drafts() {
    let server = Server::new();
    let file = |id: &str| File {
        name: format!("{id}.json"),
        bytes: json_of(id),
        ..File::default()
    };
    let zip = archive(&[file("b"), file("c")]).unwrap();
    let answer = server
        .upload(IMPORT_FILES, &[("a.json", json_of("a")), ("more.zip", zip)])
        .await;
    assert_eq!(answer.ok(200)["count"], 3);
    assert_eq!(count(&server).await, 3);
    assert_eq!(
        server.get("/workflow-definitions/c").await.ok(200)["isPublished"],
        false
    );
    // What was exported comes back.
    let list = server.get("/workflow-definitions").await.ok(200);
    let ids: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| &i["id"])
        .collect();
    let zip = server
        .post(
            "/bulk-actions/export/workflow-definitions",
            &json!({ "ids": ids }),
        )
        .await;
    let other = Server::new();
    assert_eq!(
        other
            .upload(IMPORT_FILES, &[("all.zip", zip.body)])
            .await
            .ok(200)["count"],
        3
    );
    assert_eq!(count(&other).await, 3);
}

#[tokio::test]
async fn nothing_is_imported_if_one_of_the_files_cannot_be_read() {
    let server = Server::new();
    server
        .upload(
            IMPORT_FILES,
            &[("a.json", json_of("a")), ("b.json", b"{".to_vec())],
        )
        .await
        .problem(400, "notADefinition");
    server
        .upload(
            IMPORT_FILES,
            &[
                ("a.json", json_of("a")),
                ("b.zip", b"PK\x03\x04 nothing".to_vec()),
            ],
        )
        .await
        .problem(400, "notAnArchive");
    assert_eq!(count(&server).await, 0);
    server.upload(IMPORT_FILES, &[]).await.ok(204);
    let text = server
        .post("/workflow-definitions/import-files", &json!({}))
        .await;
    text.ok(204);
}

#[tokio::test]
async fn an_instance_is_exported_with_what_is_asked_for() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let start = json!({ "definitionId": "w", "input": { "orderId": 7 } });
    let id = server.post("/workflow-starts", &start).await.ok(201)["id"].clone();
    let id = id.as_str().unwrap();
    let path = format!("/workflow-instances/{id}/export");
    let bare = server.get(&path).await;
    assert!(
        bare.header("content-disposition")
            .contains(&format!("filename=workflow-instance-{id}.json"))
    );
    let bare = bare.json();
    assert_eq!(bare["WorkflowState"]["subStatus"], "Suspended");
    assert_eq!(bare["WorkflowState"]["bookmarks"]["$id"], "2");
    let parts = bare.as_object().unwrap().iter();
    let parts: Vec<_> = parts
        .filter(|(_, part)| !part.is_null())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(parts, ["WorkflowState", "Dormouse"]);
    let all = json!({ "includeBookmarks": true, "includeActivityExecutionLog": true, "includeWorkflowExecutionLog": true });
    let whole = server.post(&path, &all).await.ok(200);
    assert_eq!(whole["Bookmarks"][0]["workflowInstanceId"], id);
    let records = whole["ActivityExecutionRecords"].as_array().unwrap();
    assert!(
        records
            .iter()
            .any(|r| r["activityId"] == "hello" && r["status"] == "Completed")
    );
    let log = whole["WorkflowExecutionLogRecords"].as_array().unwrap();
    assert!(log.iter().any(|l| l["eventName"] == "Suspended"), "{log:?}");
    server
        .get("/workflow-instances/none/export")
        .await
        .problem(404, "noSuchInstance");
    let many = json!({ "ids": [id, "none"] });
    let zip = server
        .post("/bulk-actions/export/workflow-instances", &many)
        .await;
    assert_eq!(zip.header("content-type"), "application/octet-stream");
    let name = format!("workflow-instance-{id}.json");
    assert!(zip.body.windows(name.len()).any(|w| w == name.as_bytes()));
    let many: Vec<String> = (0..101).map(|n| n.to_string()).collect();
    let many = server
        .post(
            "/bulk-actions/export/workflow-instances",
            &json!({ "ids": many }),
        )
        .await;
    many.problem(400, "badParameter");
}
