//! What is seen of an answer, and of an instance when a case is over.

use serde_json::{Map, Value, json};

use crate::client::Reply;
use crate::play::{Play, has, text};
use crate::told::told;

impl Play<'_> {
    /// The state of an instance.
    pub(crate) fn state(&mut self, id: &str) -> Value {
        let whole = self
            .api("GET", &format!("/workflow-instances/{id}"), None)
            .json();
        match whole.get("workflowState") {
            Some(state) if !state.is_null() => {
                let mut state = state.clone();
                if state["name"].is_null() {
                    state["name"] = whole["name"].clone();
                }
                state
            }
            _ => whole,
        }
    }

    /// What a listed instance has done.
    pub(crate) fn instance(&mut self, listed: &Value) -> Value {
        let id = text(&listed["id"]);
        let state = self.state(&id);
        let mut items = |path: String| {
            let answer = self.api("GET", &path, None).json();
            answer["items"].as_array().cloned().unwrap_or_default()
        };
        let variables = items(format!("/workflow-instances/{id}/variables"));
        let mut rows = items(format!(
            "/workflow-instances/{id}/journal?page=0&pageSize=1000"
        ));
        let executions = items(format!("/activity-executions/list?workflowInstanceId={id}"));
        rows.sort_by_key(|row| row["sequence"].as_i64());
        let list = |name: &str| state[name].as_array().cloned().unwrap_or_default();
        let mut bookmarks: Vec<_> = list("bookmarks")
            .iter()
            .map(|b| {
                let name = b["name"]
                    .as_str()
                    .or_else(|| b["activityTypeName"].as_str());
                format!("{} {}", text(&b["activityId"]), name.unwrap_or("undefined"))
            })
            .collect();
        bookmarks.sort();
        let variables = variables.iter();
        let variables = variables.map(|v| (text(&v["name"]), v["value"].clone()));
        let incidents = list("incidents");
        let incidents = incidents.iter();
        let output = state.get("output").filter(|o| !o.is_null()).cloned();
        json!({
            "definition": listed["definitionId"],
            "status": state["status"],
            "subStatus": state["subStatus"],
            "correlationId": state["correlationId"],
            "name": state["name"],
            "output": output.unwrap_or_else(|| json!({})),
            "variables": Map::from_iter(variables),
            "bookmarks": bookmarks,
            "incidents": incidents.map(|i| json!({ "activityId": i["activityId"], "message": i["message"] })).collect::<Vec<_>>(),
            "journal": rows.iter().map(row).collect::<Vec<_>>(),
            "executions": executions.iter().map(execution).collect::<Vec<_>>(),
        })
    }
}

fn row(row: &Value) -> String {
    let said = format!("{} {}", text(&row["activityId"]), text(&row["eventName"]));
    match &row["payload"]["Outcomes"] {
        Value::Array(names) => format!(
            "{said} {}",
            names.iter().map(text).collect::<Vec<_>>().join(",")
        ),
        Value::String(name) if !name.is_empty() => format!("{said} {name}"),
        _ => said,
    }
}

fn execution(execution: &Value) -> Value {
    let members = |name: &str| match &execution[name] {
        Value::Null => json!({}),
        members => members.clone(),
    };
    json!({
        "activityId": execution["activityId"],
        "status": execution["status"],
        "state": members("activityState"),
        "outputs": members("outputs"),
    })
}

/// What is kept of an answer.
pub(crate) fn seen(step: &Value, reply: &Reply) -> Value {
    let mut seen = json!({ "status": reply.status });
    if has(step, "start") {
        return seen;
    }
    let headers = step["watch"].as_array().into_iter().flatten();
    let mut watched = headers.map(|name| {
        let name = text(name);
        (format!("header {name}"), Value::from(reply.joined(&name)))
    });
    let is_quiet = step["quiet"].as_bool().unwrap_or(false);
    if has(step, "api") {
        for (name, value) in &mut watched {
            seen[name] = value;
        }
        if !is_quiet && step.get("body") != Some(&Value::Null) {
            seen["body"] = told(step, reply);
        }
    } else if !is_quiet && (has(step, "http") || has(step, "url")) {
        let kind = reply
            .header("content-type")
            .and_then(|k| k.split(';').next());
        seen["type"] = Value::from(kind);
        seen["body"] = reply.json();
        for (name, value) in watched {
            seen[name] = value;
        }
    }
    seen
}
