//! Alterations: instances changed by an operator, at once or by a plan, and failed activities run again. Each instance
//! is changed in one commit.

mod change;
mod filter;
mod plan;

use axum::routing::{get, post};
use axum::{Json as Answer, Router};
use dormouse_runtime::{AlterOutcome, RuntimeError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::{ElsaJson, ElsaJsonOrNone};
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;
use change::{aimless, changes, not_possible};
use filter::Filter;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/alterations/run", post(run))
        .route("/alterations/dry-run", post(dry_run))
        .route("/alterations/submit", post(plan::submit))
        .route("/alterations/{id}", get(plan::one))
        .route(
            "/alterations/workflows/retry",
            post(retry).get(retry_by_query),
        )
}

/// Which changes of which instances.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Run {
    alterations: Vec<Value>,
    workflow_instance_ids: Vec<String>,
}

/// `POST /alterations/run`: all changes of an instance, or none; each instance by itself.
async fn run(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<Run>,
) -> Result<Answer<Value>, Refusal> {
    let names = request.alterations.iter().map(|one| {
        let name = one.get("type").or_else(|| one.get("Type"));
        name.and_then(Value::as_str).unwrap_or_default().to_owned()
    });
    let names: Vec<String> = names.collect();
    let ids = bounded(&app, request.workflow_instance_ids)?;
    let mut results = Vec::new();
    if let Some((name, told)) = aimless(&request.alterations) {
        let failed = ids.iter().map(|id| failure(&app, id, name, &told));
        return Ok(Answer(json!({ "results": failed.collect::<Vec<_>>() })));
    }
    let not_possible = not_possible(&request.alterations);
    let changes = changes(request.alterations)?;
    for id in ids {
        let outcome = app
            .runtime()
            .instances()
            .alter(app.tenant(), &id, changes.clone());
        results.push(match (outcome.await, &not_possible) {
            (Ok(AlterOutcome::NotPossible(_)), Some((name, told))) => {
                failure(&app, &id, name, told)
            }
            (outcome, _) => result(&app, &id, &names, outcome)?,
        });
    }
    Ok(Answer(json!({ "results": results })))
}

/// What came of an alteration that failed, as Elsa says it.
fn failure(app: &App, id: &str, name: &str, told: &str) -> Value {
    let entry = json!({
        "message": told,
        "eventName": format!("Alteration {name} failed"),
        "logLevel": "Error",
        "timestamp": app.runtime().ports().clock.now().to_string(),
    });
    json!({
        "workflowInstanceId": id,
        "isSuccessful": false,
        "log": { "logEntries": [entry] },
        "workflowHasScheduledWork": false,
    })
}

/// The alteration that gives an instance work.
const SCHEDULE: &str = "ScheduleActivity";

/// What became of an instance, as Elsa says it.
fn result(
    app: &App,
    id: &str,
    names: &[String],
    outcome: Result<AlterOutcome, RuntimeError>,
) -> Result<Value, Refusal> {
    let (is_successful, told) = match outcome {
        Ok(outcome) => (outcome.is_altered(), outcome.told()),
        Err(RuntimeError::InProgress { .. } | RuntimeError::LeaseLost { .. }) => (
            false,
            "nothing was changed: it is being worked on; try again".to_owned(),
        ),
        Err(error) => return Err(error.into()),
    };
    let at = app.runtime().ports().clock.now().to_string();
    let entries: Vec<Value> = if is_successful {
        let each = names.iter().map(|name| {
            json!({
                "message": format!("{name} succeeded"),
                "eventName": format!("Alteration {name} succeeded"),
                "logLevel": "Information",
                "timestamp": at,
            })
        });
        each.collect()
    } else {
        vec![json!({ "message": told, "logLevel": "Error", "timestamp": at })]
    };
    Ok(json!({
        "workflowInstanceId": id,
        "isSuccessful": is_successful,
        "log": { "logEntries": entries },
        "workflowHasScheduledWork": is_successful && names.iter().any(|name| name == SCHEDULE),
    }))
}

fn bounded(app: &App, ids: Vec<String>) -> Result<Vec<String>, Refusal> {
    let max = app.config().page_items_max;
    if ids.len() > max {
        let told = format!("{} of them; the limit is {max}", ids.len());
        return Err(Refusal::bad_parameter("workflowInstanceIds", &told));
    }
    Ok(ids)
}

/// How many instances a dry run names.
const FOUND_MAX: usize = 10_000;

/// Of how many of them the journals are read, where the filter is for activities.
const EXAMINED_MAX: usize = 500;

/// `POST /alterations/dry-run`: the instances that a filter takes. Beyond [`FOUND_MAX`] it says that there are more.
async fn dry_run(
    Scoped(app): Scoped,
    ElsaJson(filter): ElsaJson<Filter>,
) -> Result<Answer<Value>, Refusal> {
    let mut filter = filter;
    let activities = filter.take_activities()?;
    let selection = filter.selection(&app).await?;
    let mut found = Vec::new();
    let mut cursor = None;
    let has_more = loop {
        let limit = app.config().page_items_max;
        let page = app
            .runtime()
            .operations()
            .select(app.tenant(), &selection, limit, cursor);
        let page = page.await?;
        found.extend(page.ids);
        cursor = page.cursor;
        if found.len() > FOUND_MAX || (found.len() == FOUND_MAX && cursor.is_some()) {
            found.truncate(FOUND_MAX);
            break true;
        }
        if cursor.is_none() {
            break false;
        }
    };
    if activities.is_empty() {
        return Ok(Answer(
            json!({ "workflowInstanceIds": found, "hasMore": has_more }),
        ));
    }
    let has_more = has_more || found.len() > EXAMINED_MAX;
    found.truncate(EXAMINED_MAX);
    let mut with_activity = Vec::new();
    for id in found {
        let executions = app.runtime().query().activity_executions(app.tenant(), &id);
        let executions = executions.await?.unwrap_or_default();
        if activities
            .iter()
            .any(|filter| executions.iter().any(|e| filter.takes(e)))
        {
            with_activity.push(id);
        }
    }
    Ok(Answer(
        json!({ "workflowInstanceIds": with_activity, "hasMore": has_more }),
    ))
}

/// Which failed activities to run again.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Retry {
    workflow_instance_ids: Vec<String>,
    /// Empty: every failed one.
    activity_ids: Option<Vec<String>>,
}

/// `POST /alterations/workflows/retry`
async fn retry(
    Scoped(app): Scoped,
    ElsaJsonOrNone(request): ElsaJsonOrNone<Retry>,
) -> Result<Answer<Value>, Refusal> {
    retried(&app, request).await
}

/// `GET /alterations/workflows/retry`
async fn retry_by_query(Scoped(app): Scoped, query: Query) -> Result<Answer<Value>, Refusal> {
    let request = Retry {
        workflow_instance_ids: query.all("workflowinstanceids"),
        activity_ids: Some(query.all("activityids")),
    };
    retried(&app, request).await
}

async fn retried(app: &App, request: Retry) -> Result<Answer<Value>, Refusal> {
    let activities = request.activity_ids.unwrap_or_default();
    let names = vec![SCHEDULE.to_owned(); activities.len().max(1)];
    let ids = bounded(app, request.workflow_instance_ids)?;
    let mut results = Vec::new();
    for id in ids {
        let outcome = app
            .runtime()
            .instances()
            .retry(app.tenant(), &id, activities.clone());
        let outcome = outcome.await;
        // As in Elsa, nothing is told of an instance that there is not.
        if !matches!(outcome, Ok(AlterOutcome::NotFound)) {
            results.push(result(app, &id, &names, outcome)?);
        }
    }
    Ok(Answer(json!({ "results": results })))
}
