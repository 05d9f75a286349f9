//! Alteration plans: changes of all instances that a filter takes, made in the background.

use axum::Json as Answer;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::query::{AlterationJob, JobStatus, PlanStatus};
use dormouse_runtime::{PlanDetail, PlanRequest, Submitted};
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::changes;
use super::filter::Filter;
use crate::body::{ElsaJson, shape};
use crate::path::Path;
use crate::query::Query;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// How many jobs one answer has at most.
const JOBS_MAX: usize = 1_000;

/// Which changes of which instances.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Submit {
    /// The plan's id: the same plan submitted twice under it is one.
    id: Option<String>,
    alterations: Vec<Value>,
    filter: Option<Value>,
}

/// `POST /alterations/submit`
pub(super) async fn submit(
    Scoped(app): Scoped,
    ElsaJson(submit): ElsaJson<Submit>,
) -> Result<Answer<Value>, Refusal> {
    let asked = json!({ "alterations": submit.alterations, "filter": submit.filter });
    let changes = changes(submit.alterations)?;
    let filter: Filter = submit.filter.map(shape).transpose()?.unwrap_or_default();
    let request = PlanRequest {
        changes,
        selection: filter.selection(&app).await?,
        asked,
    };
    let id = submit.id.filter(|id| !id.is_empty());
    match app
        .runtime()
        .operations()
        .submit_plan(app.tenant(), id.clone(), &request)
        .await?
    {
        Submitted::Accepted(plan_id) => Ok(Answer(json!({ "planId": plan_id }))),
        Submitted::Differs => Err(Operating::PlanDiffers {
            id: id.unwrap_or_default(),
        }
        .into()),
    }
}

/// `GET /alterations/{id}`: the plan, and its jobs in the order of their instances' ids. `cursor` in the answer leads to
/// the next ones.
pub(super) async fn one(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<Answer<Value>, Refusal> {
    let limit = query.read::<usize>("pagesize")?.unwrap_or(JOBS_MAX);
    let limit = limit.clamp(1, JOBS_MAX);
    let behind = query.text("cursor");
    let found = app
        .runtime()
        .operations()
        .plan(app.tenant(), &id, behind, limit)
        .await?;
    let Some(found) = found else {
        return Err(Operating::NoSuchPlan { id }.into());
    };
    let last = found.jobs.last().filter(|_| found.jobs.len() == limit);
    let alterations = found.request.asked.get("alterations");
    let alterations = alterations.unwrap_or(&Value::Null);
    let jobs = found.jobs.iter();
    let jobs: Vec<Value> = jobs.map(|job| job_model(&id, job, alterations)).collect();
    Ok(Answer(json!({
        "plan": plan_model(&id, &found),
        "jobs": jobs,
        "cursor": last.map(|job| &job.instance_id),
    })))
}

fn time(ms: Option<i64>) -> Option<String> {
    ms.map(|ms| Timestamp(ms).to_string())
}

fn plan_model(id: &str, detail: &PlanDetail) -> Value {
    let (plan, asked) = (&detail.plan, &detail.request.asked);
    let status = match plan.status {
        PlanStatus::Pending => "Pending",
        PlanStatus::Generating => "Generating",
        PlanStatus::Running => "Running",
        PlanStatus::Completed => "Completed",
        PlanStatus::Failed => "Failed",
    };
    let mut filter = asked["filter"].clone();
    if let Value::Object(filter) = &mut filter {
        for name in ["emptyFilterSelectsAll", "isSystem"] {
            filter.entry(name).or_insert(false.into());
        }
    }
    json!({
        "id": id,
        "alterations": asked["alterations"],
        "workflowInstanceFilter": filter,
        "status": status,
        "jobCount": plan.jobs,
        "createdAt": time(Some(plan.created_ms)),
        "startedAt": time(plan.started_ms),
        "completedAt": time(plan.completed_ms),
    })
}

fn job_model(plan_id: &str, job: &AlterationJob, alterations: &Value) -> Value {
    let (status, level) = match job.status {
        JobStatus::Pending => ("Pending", "Information"),
        JobStatus::Completed => ("Completed", "Information"),
        JobStatus::Failed => ("Failed", "Error"),
    };
    let entry = |message: &str, event: &str| {
        json!({
            "message": message,
            "logLevel": level,
            "timestamp": time(job.completed_ms),
            "eventName": event,
        })
    };
    let log: Vec<Value> = match job.status {
        JobStatus::Completed => {
            let names = alterations.as_array().into_iter().flatten();
            let names = names.filter_map(|one| one.get("type").and_then(Value::as_str));
            let told = names.map(|name| {
                let message = format!("{name} succeeded");
                entry(&message, &format!("Alteration {message}"))
            });
            told.collect()
        }
        JobStatus::Pending | JobStatus::Failed => {
            job.told.iter().map(|told| entry(told, status)).collect()
        }
    };
    json!({
        "id": format!("{plan_id}{}", job.instance_id),
        "planId": plan_id,
        "workflowInstanceId": job.instance_id,
        "status": status,
        "log": log,
        "createdAt": time(Some(job.created_ms)),
        "startedAt": time(job.started_ms),
        "completedAt": time(job.completed_ms),
    })
}
