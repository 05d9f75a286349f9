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

#[tokio::test]
async fn descriptors_have_elsas_shape() {
    let server = Server::new();
    for (name, path) in [
        ("03-features-installed.json", "/features/installed"),
        (
            "04-descriptors-activities.json",
            "/descriptors/activities?Refresh=True",
        ),
        (
            "05-descriptors-expression.json",
            "/descriptors/expression-descriptors",
        ),
        ("06-descriptors-variables.json", "/descriptors/variables"),
        (
            "07-descriptors-storage-drivers.json",
            "/descriptors/storage-drivers",
        ),
        (
            "08-descriptors-activation.json",
            "/descriptors/workflow-activation-strategies",
        ),
        (
            "09-descriptors-incident.json",
            "/descriptors/incident-strategies",
        ),
        (
            "10-descriptors-log-persistence.json",
            "/descriptors/log-persistence-strategies",
        ),
        (
            "11-descriptors-commit-workflows.json",
            "/descriptors/commit-strategies/workflows",
        ),
        (
            "12-descriptors-commit-activities.json",
            "/descriptors/commit-strategies/activities",
        ),
    ] {
        let got = server.get(path).await.ok(200);
        assert_eq!(
            got["count"],
            got["items"].as_array().unwrap().len(),
            "{path}"
        );
        same_shape(name, &got);
    }
}

#[tokio::test]
async fn executions_have_elsas_shape() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let body = json!({ "correlationId": null, "triggerActivityId": null, "versionOptions": "Latest", "input": null });
    let executed = server.post("/workflow-definitions/w/execute", &body).await;
    let id = executed.header("x-elsa-workflow-instance-id");
    let asked = json!({ "workflowInstanceId": id, "activityNodeIds": ["Workflow1:all:hello", "Workflow1:all:go", "Workflow1:all:never"] });
    let report = server
        .post("/activity-executions/report", &asked)
        .await
        .ok(200);
    same_shape("23-executions-report.json", &report);
    let told: Vec<_> = report["stats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (&s["activityId"], &s["completedCount"], &s["isBlocked"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("hello"), &json!(1), &json!(false)),
            (&json!("go"), &json!(0), &json!(true))
        ]
    );
    let list = server
        .get(&format!(
            "/activity-executions/list?workflowInstanceId={id}&activityNodeId=Workflow1:all:go"
        ))
        .await
        .ok(200);
    let count = format!("/activity-executions/count?workflowInstanceId={id}&activityId=go");
    assert_eq!(server.get(&count).await.ok(200)["count"], 1);
    let execution = list["items"][0]["id"].as_str().unwrap();
    let one = server
        .get(&format!("/activity-executions/by-id?id={execution}"))
        .await
        .ok(200);
    same_shape("26-execution-by-id.json", &one);
    assert_eq!(one, list["items"][0]);
    assert_eq!(
        one,
        server
            .get(&format!("/activity-executions/{execution}"))
            .await
            .ok(200)
    );
    let stack = server
        .get(&format!(
            "/activity-executions/{execution}/call-stack?includeCrossWorkflowChain=True"
        ))
        .await
        .ok(200);
    same_shape("27-call-stack.json", &stack);
    let nodes: Vec<_> = stack["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["activityNodeId"].as_str().unwrap())
        .collect();
    assert_eq!(nodes, ["Workflow1", "Workflow1:all", "Workflow1:all:go"]);
    server
        .get("/activity-executions/nowhere.1")
        .await
        .problem(404, "noSuchActivityExecution");
    let cancelled = server
        .post(&format!("/cancel/workflow-instances/{id}"), &json!(null))
        .await
        .ok(200);
    same_shape("31-cancel.json", &cancelled);
}

#[tokio::test]
async fn an_editor_is_told_what_scripts_can_call() {
    let server = Server::new();
    server.publish(waiting("w")).await;
    let types = server
        .post("/scripting/javascript/type-definitions/w", &json!({}))
        .await;
    assert_eq!(types.header("content-type"), "application/x-typescript");
    assert!(
        String::from_utf8(types.body)
            .unwrap()
            .contains("declare function getInput")
    );
    server
        .post("/scripting/javascript/type-definitions/none", &json!({}))
        .await
        .problem(400, "invalidRequest");
}

#[tokio::test]
async fn the_api_answers_no_head_and_minds_no_slash_at_the_end() {
    let server = Server::new();
    let path = "/elsa/api/workflow-definitions";
    assert_eq!(server.ask("HEAD", path).await.status, 405);
    let listed = server.get("/workflow-definitions/?page=0").await.ok(200);
    assert_eq!(listed["totalCount"], 0);
    assert_eq!(server.ask("GET", "/elsa/api/nowhere/").await.status, 404);
}
