//! The REST API as the load and kill tests use it.

use std::io;

use serde_json::{Value, json};

use super::http_client::{Client, Response};

/// What a start or a look at an instance tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The instance's id.
    pub id: String,
    /// Elsa's sub-status.
    pub sub_status: String,
    /// The ids of its open bookmarks.
    pub bookmarks: Vec<String>,
}

/// Publishes a definition.
pub fn publish(client: &mut Client, definition: &Value) {
    let body = json!({ "model": definition, "publish": true });
    let response = client
        .post("/elsa/api/workflow-definitions", &body)
        .expect("the server answers");
    assert!(
        response.is_success(),
        "{} {}",
        response.status,
        String::from_utf8_lossy(&response.body)
    );
}

/// Starts an instance under an idempotency key, and runs it until it waits or ends.
pub fn start(client: &mut Client, definition: &str, key: &str) -> io::Result<Response> {
    client.post_once(
        &format!("/elsa/api/workflow-definitions/{definition}/execute"),
        key,
        &json!({}),
    )
}

/// Completes a task.
pub fn complete_task(client: &mut Client, task: &str) -> io::Result<Response> {
    client.post(
        &format!("/elsa/api/tasks/{task}/complete"),
        &json!({ "result": "done" }),
    )
}

/// Triggers an event.
pub fn trigger_event(client: &mut Client, name: &str, key: &str) -> io::Result<Response> {
    client.post_once(
        &format!("/elsa/api/events/{name}/trigger"),
        key,
        &json!({ "input": { "key": key } }),
    )
}

/// Looks at an instance. `None`: there is none.
pub fn look(client: &mut Client, id: &str) -> io::Result<Option<Seen>> {
    let response = client.get(&format!("/elsa/api/workflow-instances/{id}"))?;
    Ok(response
        .is_success()
        .then(|| seen(&response.json()["workflowState"])))
}

/// How many instances of a definition there are.
pub fn count(client: &mut Client, definition: &str) -> usize {
    let path = format!("/elsa/api/workflow-instances?definitionId={definition}&pageSize=1");
    let list = client.get(&path).expect("the server answers").json();
    assert_eq!(list["isTotalExact"], true, "{list}");
    let total = list["totalCount"].as_u64().expect("a number");
    usize::try_from(total).expect("not that many")
}

/// All lines of an instance's journal, in order.
pub fn journal(client: &mut Client, id: &str) -> io::Result<Vec<Value>> {
    let response = client.get(&format!(
        "/elsa/api/workflow-instances/{id}/journal?page=0&pageSize=1000"
    ))?;
    Ok(response.json()["items"]
        .as_array()
        .cloned()
        .unwrap_or_default())
}

/// Reads a workflow state.
#[must_use]
pub fn seen(state: &Value) -> Seen {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let bookmarks = state["bookmarks"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|b| text(&b["id"]))
        .collect();
    Seen {
        id: text(&state["id"]),
        sub_status: text(&state["subStatus"]),
        bookmarks,
    }
}
