//! Activity execution records: what each activity of an instance received, gave and how it ended.

use axum::routing::get;
use axum::{Json, Router};
use dormouse_runtime::query::{ActivityExecution, ActivityStatus};
use serde_json::{Value, json};

use crate::app::App;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/activity-executions/list", get(list))
        .route("/activity-executions/count", get(count))
        .route("/activity-execution-summaries/list", get(summaries))
}

async fn list(Scoped(app): Scoped, query: Query) -> Result<Json<Value>, Refusal> {
    let (instance, all) = all(&app, &query).await?;
    let found = all.iter().filter(|e| matches(e, &query));
    Ok(Json(items(found.map(|e| record(&instance, e, &all)))))
}

async fn summaries(Scoped(app): Scoped, query: Query) -> Result<Json<Value>, Refusal> {
    let (instance, all) = all(&app, &query).await?;
    let found = all.iter().filter(|e| matches(e, &query));
    Ok(Json(items(found.map(|e| summary(&instance, e)))))
}

async fn count(Scoped(app): Scoped, query: Query) -> Result<Json<Value>, Refusal> {
    let (_, all) = all(&app, &query).await?;
    let count = all.iter().filter(|e| matches(e, &query)).count();
    Ok(Json(json!({ "count": count })))
}

fn items(items: impl Iterator<Item = Value>) -> Value {
    let items: Vec<Value> = items.collect();
    let count = items.len();
    json!({ "items": items, "count": count })
}

/// All executions of the instance that the query names.
async fn all(app: &App, query: &Query) -> Result<(String, Vec<ActivityExecution>), Refusal> {
    query.read::<bool>("completed")?;
    let id = query
        .text("workflowinstanceid")
        .unwrap_or_default()
        .to_owned();
    let found = app.runtime().activity_executions(app.tenant(), &id).await?;
    let found = found.ok_or_else(|| Refusal::NoSuchInstance { id: id.clone() })?;
    Ok((id, found))
}

fn matches(execution: &ActivityExecution, query: &Query) -> bool {
    let is_completed = execution.status == ActivityStatus::Completed;
    let completed = query.read::<bool>("completed").unwrap_or_default();
    let node = query.text("activitynodeid");
    node.is_none_or(|n| n == execution.activity_node_id)
        && completed.is_none_or(|c| c == is_completed)
}

/// The executions that led to one, the nearest first.
fn chain<'a>(
    execution: &ActivityExecution,
    all: &'a [ActivityExecution],
) -> impl Iterator<Item = &'a ActivityExecution> {
    let by_id = |id: Option<&String>| all.iter().find(|e| Some(&e.id) == id);
    let first = by_id(execution.scheduled_by.as_ref());
    // As long as all of them at most: what is stored cannot be trusted to be a tree.
    std::iter::successors(first, move |e| by_id(e.scheduled_by.as_ref())).take(all.len())
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

fn record(instance: &str, execution: &ActivityExecution, all: &[ActivityExecution]) -> Value {
    let mut out = summary(instance, execution);
    if let Value::Object(out) = &mut out {
        let mut put = |name: &str, value: Value| out.insert(name.into(), value);
        let scheduler = chain(execution, all).next();
        put("activityState", execution.activity_state.clone());
        put("payload", json!({ "Outcomes": execution.outcomes }));
        put("outputs", execution.outputs.clone());
        put("properties", json!({}));
        put("exception", execution.exception.clone());
        put(
            "schedulingActivityExecutionId",
            json!(execution.scheduled_by),
        );
        put(
            "schedulingActivityId",
            json!(scheduler.map(|e| &e.activity_id)),
        );
        put("schedulingWorkflowInstanceId", Value::Null);
        put("callStackDepth", chain(execution, all).count().into());
    }
    out
}
