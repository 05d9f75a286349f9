//! Answers have every property, of the same type, that Elsa's answers have in the recorded examples.
//!
//! The examples lie outside the repository; where they are absent these tests pass with a message.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::server::{Server, waiting};

/// The recorded answer of an example, if there is one.
fn example(name: &str) -> Option<Value> {
    let shared = std::env::var_os("DORMOUSE_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let file = shared.unwrap_or(beside).join("studio/examples").join(name);
    let Ok(text) = std::fs::read_to_string(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return None;
    };
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let response = recorded["response"].clone();
    Some(response.get("body").cloned().unwrap_or(response))
}

/// Every property of `wanted` is in `got` with a value of the same type; `null` goes with everything.
fn compare(path: &str, wanted: &Value, got: &Value, missing: &mut Vec<String>) {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            for (name, value) in wanted {
                let path = format!("{path}.{name}");
                match got.get(name) {
                    None => missing.push(path),
                    Some(got) => compare(&path, value, got, missing),
                }
            }
        }
        (Value::Array(wanted), Value::Array(got)) => {
            if let (Some(wanted), Some(got)) = (wanted.first(), got.first()) {
                compare(&format!("{path}[0]"), wanted, got, missing);
            }
        }
        (Value::Null, _) | (_, Value::Null) => {}
        (wanted, got) => {
            if std::mem::discriminant(wanted) != std::mem::discriminant(got) {
                missing.push(format!("{path}: {wanted} is not like {got}"));
            }
        }
    }
}

/// Fails the test unless the answer has the example's shape. What the example's own workflow is made of, and what
/// it was given, is not the API's shape.
#[track_caller]
fn same_shape(name: &str, got: &Value) {
    let Some(wanted) = example(name) else { return };
    let mut missing = Vec::new();
    compare("", &wanted, got, &mut missing);
    let own = [
        ".root.",
        ".variables[0]",
        ".inputs[0]",
        ".input.",
        ".activityState.",
        ".exception.",
    ];
    missing.retain(|path| !own.iter().any(|part| path.contains(part)));
    assert_eq!(missing, Vec::<String>::new(), "{name}: {got:#}");
}

#[tokio::test]
async fn definitions_have_elsas_shape() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let list = server
        .get("/workflow-definitions?versionOptions=Latest")
        .await
        .ok(200);
    same_shape("13-definitions-list.json", &list);
    let one = server
        .get("/workflow-definitions/by-definition-id/w")
        .await
        .ok(200);
    same_shape("14-definition-by-definition-id.json", &one);
    let id = one["id"].as_str().unwrap();
    let by_id = server
        .get(&format!("/workflow-definitions/by-id/{id}"))
        .await
        .ok(200);
    same_shape("15-definition-by-id.json", &by_id);
    let unique = server
        .get("/workflow-definitions/validation/is-name-unique?name=x")
        .await
        .ok(200);
    same_shape("16-is-name-unique.json", &unique);
    let new = json!({ "model": waiting("new"), "publish": null });
    let saved = server.post("/workflow-definitions", &new).await.ok(200);
    same_shape("28-save-new.json", &saved);
    let published = server
        .post("/workflow-definitions/w/publish", &json!({}))
        .await
        .ok(200);
    same_shape("29-publish.json", &published);
}

#[tokio::test]
async fn instances_have_elsas_shape() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let executed = server
        .post("/workflow-definitions/w/execute", &json!({}))
        .await
        .ok(200);
    same_shape("30-execute.json", &executed);
    let list = server
        .post("/workflow-instances", &json!({ "page": 0, "pageSize": 10 }))
        .await
        .ok(200);
    same_shape("18-instances-list.json", &list);
    let id = list["items"][0]["id"].as_str().unwrap();
    let one = server
        .get(&format!("/workflow-instances/{id}"))
        .await
        .ok(200);
    same_shape("19-instance.json", &one);
    let state = server
        .get(&format!("/workflow-instances/{id}/execution-state"))
        .await
        .ok(200);
    same_shape("20-execution-state.json", &state);
    let variables = server
        .get(&format!("/workflow-instances/{id}/variables"))
        .await
        .ok(200);
    same_shape("21-instance-variables.json", &variables);
    let journal = server
        .get(&format!("/workflow-instances/{id}/journal"))
        .await
        .ok(200);
    same_shape("22-journal.json", &journal);
    let summaries = server
        .get(&format!(
            "/activity-execution-summaries/list?workflowInstanceId={id}"
        ))
        .await;
    same_shape("24-execution-summaries.json", &summaries.ok(200));
    let records = server
        .get(&format!(
            "/activity-executions/list?workflowInstanceId={id}"
        ))
        .await;
    same_shape("25-executions-list.json", &records.ok(200));
}
