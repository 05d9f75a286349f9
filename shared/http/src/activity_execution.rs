//! Activity execution records: what each activity of an instance received, gave and how it ended.

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use dormouse_runtime::query::{ActivityExecution, ActivityStatus};
use serde_json::{Value, json};

use crate::app::App;
use crate::query::Query;
use crate::refusal::Refusal;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/activity-executions/list", get(list))
        .route("/activity-executions/count", get(count))
        .route("/activity-execution-summaries/list", get(summaries))
}

async fn list(State(app): State<App>, query: Query) -> Result<Json<Value>, Refusal> {
    let (instance, found) = find(&app, &query).await?;
    Ok(Json(items(found.iter().map(|e| record(&instance, e)))))
}

async fn summaries(State(app): State<App>, query: Query) -> Result<Json<Value>, Refusal> {
    let (instance, found) = find(&app, &query).await?;
    Ok(Json(items(found.iter().map(|e| summary(&instance, e)))))
}

async fn count(State(app): State<App>, query: Query) -> Result<Json<Value>, Refusal> {
    let (_, found) = find(&app, &query).await?;
    Ok(Json(json!({ "count": found.len() })))
}

fn items(items: impl Iterator<Item = Value>) -> Value {
    let items: Vec<Value> = items.collect();
    let count = items.len();
    json!({ "items": items, "count": count })
}

async fn find(app: &App, query: &Query) -> Result<(String, Vec<ActivityExecution>), Refusal> {
    let id = query
        .text("workflowinstanceid")
        .unwrap_or_default()
        .to_owned();
    let found = app.runtime().activity_executions(app.tenant(), &id).await?;
    let mut found = found.ok_or_else(|| Refusal::NoSuchInstance { id: id.clone() })?;
    let node = query.text("activitynodeid");
    let completed = query.read::<bool>("completed")?;
    found.retain(|e| {
        node.is_none_or(|n| n == e.activity_node_id)
            && completed.is_none_or(|c| c == (e.status == ActivityStatus::Completed))
    });
    Ok((id, found))
}

fn summary(instance: &str, execution: &ActivityExecution) -> Value {
    json!({
        "id": execution.id,
        "workflowInstanceId": instance,
        "activityId": execution.activity_id,
        "activityNodeId": execution.activity_node_id,
        "activityType": execution.activity_type,
        "activityTypeVersion": execution.activity_type_version,
        "activityName": execution.activity_name,
        "startedAt": execution.started_at.to_string(),
        "hasBookmarks": execution.has_bookmarks,
        "metadata": {},
        "status": execution.status.as_str(),
        "aggregateFaultCount": execution.aggregate_fault_count,
        "completedAt": execution.completed_at.map(|t| t.to_string()),
    })
}

fn record(instance: &str, execution: &ActivityExecution) -> Value {
    let mut out = summary(instance, execution);
    if let Value::Object(out) = &mut out {
        out.insert("activityState".into(), execution.activity_state.clone());
        out.insert("payload".into(), json!({ "Outcomes": execution.outcomes }));
        out.insert("outputs".into(), execution.outputs.clone());
        out.insert("properties".into(), json!({}));
        out.insert("exception".into(), execution.exception.clone());
        out.insert(
            "schedulingActivityExecutionId".into(),
            json!(execution.scheduled_by),
        );
    }
    out
}
