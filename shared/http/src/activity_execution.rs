//! Activity execution records: what each activity of an instance received, gave and how it ended.

use std::collections::BTreeMap;

use axum::routing::{get, post};
use axum::{Json, Router};
use dormouse_engine::sensitive::redact;
use dormouse_runtime::query::{ActivityExecution, ActivityStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::ElsaJson;
use crate::exception;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/activity-executions/list", get(list))
        .route("/activity-executions/count", get(count))
        .route("/activity-executions/report", post(report))
        .route("/activity-executions/by-id", get(by_query))
        .route("/activity-executions/{id}", get(by_id))
        .route("/activity-executions/{id}/call-stack", get(call_stack))
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

/// The length of an execution's own id: a number of 64 bits in hexadecimal digits.
pub(crate) const EXECUTION_ID_BYTES: usize = 16;

/// An execution's id in the API begins with its instance's, so that it can be found.
fn public_id(instance: &str, id: &str) -> String {
    format!("{instance}{id}")
}

/// One execution, with all others of its instance.
struct One {
    instance: String,
    all: Vec<ActivityExecution>,
    place: usize,
}

impl One {
    async fn find(app: &App, id: &str) -> Result<Self, Refusal> {
        let missing = || Operating::NoSuchActivityExecution { id: id.to_owned() };
        let place = id.len().checked_sub(EXECUTION_ID_BYTES);
        let (instance, own) = place
            .and_then(|place| id.split_at_checked(place))
            .ok_or_else(missing)?;
        let found = app
            .runtime()
            .query()
            .activity_executions(app.tenant(), instance);
        let all = found.await?.ok_or_else(missing)?;
        let place = all.iter().position(|e| e.id == own).ok_or_else(missing)?;
        Ok(Self {
            instance: instance.to_owned(),
            all,
            place,
        })
    }

    fn record(&self) -> Option<Value> {
        let one = self.all.get(self.place)?;
        Some(record(&self.instance, one, &self.all))
    }
}

async fn by_query(Scoped(app): Scoped, query: Query) -> Result<Json<Value>, Refusal> {
    let id = query.text("id").unwrap_or_default();
    Ok(Json(
        One::find(&app, id).await?.record().unwrap_or_default(),
    ))
}

async fn by_id(Scoped(app): Scoped, Path(id): Path<String>) -> Result<Json<Value>, Refusal> {
    Ok(Json(
        One::find(&app, &id).await?.record().unwrap_or_default(),
    ))
}

/// The executions that led to one, the first of all in front, itself at the end.
async fn call_stack(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<Value>, Refusal> {
    let skip = query.read("skip")?.unwrap_or(0);
    let take = query.read("take")?.unwrap_or(100).min(1_000);
    let one = One::find(&app, &id).await?;
    let Some(last) = one.all.get(one.place) else {
        return Err(Operating::NoSuchActivityExecution { id }.into());
    };
    let mut stack: Vec<&ActivityExecution> = chain(last, &one.all).collect();
    stack.reverse();
    stack.push(last);
    let total = stack.len();
    let part = stack.into_iter().skip(skip).take(take);
    let items: Vec<Value> = part.map(|e| record(&one.instance, e, &one.all)).collect();
    Ok(Json(json!({
        "activityExecutionId": id,
        "items": items,
        "totalCount": total,
    })))
}

/// Which activities to report on.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ReportRequest {
    workflow_instance_id: String,
    activity_node_ids: Vec<String>,
}

/// How often each activity has run, for the badges on a canvas. Those that never ran are left out.
async fn report(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<ReportRequest>,
) -> Result<Json<Value>, Refusal> {
    let id = request.workflow_instance_id;
    let found = app
        .runtime()
        .query()
        .activity_executions(app.tenant(), &id)
        .await?;
    let all = found.ok_or(Refusal::NoSuchInstance { id })?;
    let mut by_node: BTreeMap<&str, Vec<&ActivityExecution>> = BTreeMap::new();
    for one in &all {
        by_node.entry(&one.activity_node_id).or_default().push(one);
    }
    let wanted = request.activity_node_ids.iter();
    let stats: Vec<Value> = wanted
        .filter_map(|node| by_node.get(node.as_str()))
        .map(|executions| statistics(executions))
        .collect();
    Ok(Json(json!({ "stats": stats })))
}

fn statistics(executions: &[&ActivityExecution]) -> Value {
    let count = |status| executions.iter().filter(|e| e.status == status).count();
    let completed = count(ActivityStatus::Completed);
    let faults: u32 = executions.iter().map(|e| e.aggregate_fault_count).sum();
    let is_blocked =
        |e: &&&ActivityExecution| e.has_bookmarks && e.status == ActivityStatus::Running;
    let first = executions.first();
    json!({
        "activityId": first.map(|e| &e.activity_id),
        "activityNodeId": first.map(|e| &e.activity_node_id),
        "startedCount": executions.len(),
        "completedCount": completed,
        "uncompletedCount": executions.len() - completed,
        "isBlocked": executions.iter().any(|e| is_blocked(&e)),
        "isFaulted": count(ActivityStatus::Faulted) > 0,
        "aggregateFaultCount": faults,
        "metadata": {},
    })
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
    let found = app
        .runtime()
        .query()
        .activity_executions(app.tenant(), &id)
        .await?;
    // Elsa lists none where there is no instance.
    Ok((id, found.unwrap_or_default()))
}

fn matches(execution: &ActivityExecution, query: &Query) -> bool {
    let is_completed = execution.status == ActivityStatus::Completed;
    let completed = query.read::<bool>("completed").unwrap_or_default();
    let is = |name: &str, found: &str| query.text(name).is_none_or(|wanted| wanted == found);
    is("activitynodeid", &execution.activity_node_id)
        && is("activityid", &execution.activity_id)
        && completed.is_none_or(|c| c == is_completed)
}

/// The records of all executions of an instance; none if there is no such instance.
pub(crate) async fn records(app: &App, instance: &str) -> Result<Vec<Value>, Refusal> {
    let found = app
        .runtime()
        .query()
        .activity_executions(app.tenant(), instance);
    let all = found.await?.unwrap_or_default();
    Ok(all.iter().map(|e| record(instance, e, &all)).collect())
}

/// The executions that led to one, the nearest first.
fn chain<'a>(
    execution: &ActivityExecution,
    all: &'a [ActivityExecution],
) -> impl Iterator<Item = &'a ActivityExecution> {
    let by_id = |id: Option<&String>| all.iter().find(|e| Some(&e.id) == id);
    let before = |e: &'a ActivityExecution| e.came_from.as_ref().or(e.scheduled_by.as_ref());
    let first = execution.came_from.as_ref();
    let first = by_id(first.or(execution.scheduled_by.as_ref()));
    // As long as all of them at most: what is stored cannot be trusted to be a tree.
    std::iter::successors(first, move |e| by_id(before(e))).take(all.len())
}

/// How many executions led to one.
pub(crate) fn depth(execution: &ActivityExecution, all: &[ActivityExecution]) -> usize {
    chain(execution, all).count()
}

fn summary(instance: &str, execution: &ActivityExecution) -> Value {
    json!({
        "id": public_id(instance, &execution.id),
        "workflowInstanceId": instance,
        "activityId": execution.activity_id,
        "activityNodeId": execution.activity_node_id,
        "activityType": execution.activity_type,
        "activityTypeVersion": execution.activity_type_version,
        "activityName": execution.activity_name,
        "startedAt": execution.started_at.to_string(),
        "hasBookmarks": execution.has_bookmarks,
        "metadata": { "_type": "ObjectMap" },
        "status": execution.status.as_str(),
        "aggregateFaultCount": execution.aggregate_fault_count,
        "completedAt": execution.completed_at.map(|t| t.to_string()),
    })
}

/// What an execution keeps besides: of a flowchart its visits.
fn properties(execution: &ActivityExecution) -> Value {
    if execution.flow_scope.is_null() {
        return json!({ "_type": "ObjectMap" });
    }
    json!({ "_type": "ObjectMap", "FlowScope": execution.flow_scope })
}

fn record(instance: &str, execution: &ActivityExecution, all: &[ActivityExecution]) -> Value {
    let mut out = summary(instance, execution);
    if let Value::Object(out) = &mut out {
        let mut put = |name: &str, value: Value| out.insert(name.into(), value);
        let scheduler = chain(execution, all).next();
        put("activityState", execution.activity_state.clone());
        put("payload", json!({ "Outcomes": execution.outcomes }));
        let outputs = Some(&execution.outputs).filter(|outputs| !outputs.is_null());
        let outputs = outputs.cloned().unwrap_or_else(|| json!({}));
        put("outputs", outputs);
        put("tenantId", "".into());
        put("properties", properties(execution));
        put("exception", exception::told(&execution.exception));
        put(
            "schedulingActivityExecutionId",
            json!(
                execution
                    .scheduled_by
                    .as_ref()
                    .map(|id| public_id(instance, id))
            ),
        );
        put(
            "schedulingActivityId",
            json!(scheduler.map(|e| &e.activity_id)),
        );
        put("schedulingWorkflowInstanceId", Value::Null);
        put("callStackDepth", depth(execution, all).into());
    }
    redact(&mut out);
    out
}
