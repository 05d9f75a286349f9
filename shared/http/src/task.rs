//! Tasks of outside workers: asked for, answered, kept alive.

use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json as Answer, Router};
use dormouse_engine::activity_type::{is_queue_name, is_type_name};
use dormouse_runtime::query::InstanceFilter;
use dormouse_runtime::{
    Heard, OpenTask, PollRequest, Polled, ResumeOutcome, TASKS_MAX, WAIT_MS_MAX,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::body::{ElsaJson, Json};
use crate::instance::{self, attributes};
use crate::path::Path;
use crate::query::Query;
use crate::refusal::{Operating, Overload, Refusal};
use crate::scoped::Scoped;

/// The most activity types of one request for tasks.
const TYPES_MAX: usize = 50;
/// The longest name of a worker, in bytes.
const WORKER_BYTES_MAX: usize = 200;
/// The most open tasks of one page, but for those of its last instances.
const OPEN_MAX: usize = 100;
/// How long a request for tasks waits without looking whether the server is about to stop, in ms.
const SLICE_MS: u64 = 1_000;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/tasks/poll", post(poll))
        .route("/tasks", get(open))
        .route("/tasks/{id}/complete", post(complete))
        .route("/tasks/{id}/fail", post(fail))
        .route("/tasks/{id}/heartbeat", post(heartbeat))
}

/// What the worker found.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Completion {
    /// Of a task of `RunTask`.
    result: Value,
    /// Of a task of an activity whose type is data.
    outputs: Value,
    outcome: Value,
}

/// `POST /tasks/{id}/complete`. Elsa answers 200 to everything; here an unknown task is 404 and a second completion
/// 409, so that a worker knows whether its result counts.
async fn complete(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    ElsaJson(request): ElsaJson<Completion>,
) -> Result<Response, Refusal> {
    let outputs = if request.outputs.is_null() {
        &request.result
    } else {
        &request.outputs
    };
    let answer = json!({ "outputs": outputs, "outcome": request.outcome });
    let outcome = app
        .runtime()
        .tasks()
        .complete(app.tenant(), &id, request.result, answer)
        .await?;
    told(id, outcome)
}

/// What went wrong.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failure {
    error: Map<String, Value>,
}

/// `POST /tasks/{id}/fail`
async fn fail(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    Json(request): Json<Failure>,
) -> Result<Response, Refusal> {
    let answer = json!({ "error": request.error });
    let tasks = app.runtime().tasks();
    let outcome = tasks.answer(app.tenant(), &id, answer).await?;
    told(id, outcome)
}

fn told(id: String, outcome: ResumeOutcome) -> Result<Response, Refusal> {
    if matches!(outcome, ResumeOutcome::NotFound) {
        return Err(Operating::NoSuchTask { id }.into());
    }
    instance::resumed(id, outcome)
}

/// That somebody is still at work.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Heartbeat {
    /// What the next attempt is told, should this one fail.
    details: Value,
}

/// `POST /tasks/{id}/heartbeat`
async fn heartbeat(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    Json(request): Json<Heartbeat>,
) -> Result<Response, Refusal> {
    let tasks = app.runtime().tasks();
    match tasks.heartbeat(app.tenant(), &id, request.details).await? {
        Heard::By(outcome) => told(id, outcome),
        Heard::HasNoHeartbeat => Err(Operating::NoHeartbeat { id }.into()),
    }
}

/// What a worker asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Poll {
    queue: String,
    types: Vec<String>,
    max: Option<u64>,
    wait_ms: Option<u64>,
    worker_id: String,
}

impl Poll {
    fn read(self) -> Result<PollRequest, Refusal> {
        let wrong = |reason: String| Err(Refusal::WrongShape { reason });
        if !is_queue_name(&self.queue) {
            return wrong("`queue` is a name of letters, digits, dots, dashes and underscores, at most 64 of them".into());
        }
        let count = self.types.len();
        if !(1..=TYPES_MAX).contains(&count) || !self.types.iter().all(|name| is_type_name(name)) {
            return wrong(format!(
                "`types` lists the activity types that the worker can do, from 1 to {TYPES_MAX}, such as `Acme.ChargeCard`"
            ));
        }
        if self.worker_id.is_empty() || self.worker_id.len() > WORKER_BYTES_MAX {
            return wrong(format!(
                "`workerId` says who asks, in at most {WORKER_BYTES_MAX} bytes"
            ));
        }
        let max = self.max.unwrap_or(1);
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        if !(1..=TASKS_MAX).contains(&max) {
            return wrong(format!("`max` is a number from 1 to {TASKS_MAX}"));
        }
        let wait_ms = self.wait_ms.unwrap_or(0);
        if wait_ms > WAIT_MS_MAX {
            return wrong(format!("`waitMs` is a number up to {WAIT_MS_MAX}"));
        }
        let mut types = self.types;
        types.sort();
        types.dedup();
        Ok(PollRequest {
            queue: self.queue,
            types,
            max,
            wait_ms,
            worker: self.worker_id,
        })
    }
}

/// `POST /tasks/poll`: tasks that are the worker's from now on, or none where there was none for so long.
async fn poll(Scoped(app): Scoped, Json(request): Json<Poll>) -> Result<Response, Refusal> {
    let request = request.read()?;
    let mut left_ms = request.wait_ms;
    loop {
        let wait_ms = left_ms.min(SLICE_MS);
        left_ms -= wait_ms;
        let slice = PollRequest {
            wait_ms,
            ..request.clone()
        };
        let tasks = match app.runtime().tasks().poll(app.tenant(), &slice).await? {
            Polled::Tasks(tasks) => tasks,
            Polled::TooMany { .. } if left_ms + wait_ms == request.wait_ms => {
                return Err(Overload::Polls.into());
            }
            Polled::TooMany { .. } => Vec::new(),
        };
        if !tasks.is_empty() || left_ms == 0 || app.is_draining() || !app.runtime().tasks().waits()
        {
            return Ok(Answer(json!({ "tasks": tasks })).into_response());
        }
    }
}

/// `GET /tasks`: open tasks, those of the oldest instances first; `cursor` in the answer leads to the next page.
async fn open(Scoped(app): Scoped, query: Query) -> Result<Response, Refusal> {
    let limit = query.read::<usize>("pagesize")?.unwrap_or(25);
    let limit = limit.clamp(1, OPEN_MAX);
    let name = query.text("task");
    let cursor = query.text("cursor").map(str::to_owned);
    let text = |name: &str| query.text(name).map(str::to_owned);
    let attributes = attributes::of_parameters(&query.all("searchattribute"))?;
    let filter = InstanceFilter {
        definition_ids: text("definitionid").into_iter().collect(),
        correlation_id: text("correlationid"),
        search: text("searchterm"),
        attributes: attributes::of_member(Some(attributes))?,
        ..InstanceFilter::default()
    };
    let runtime = app.runtime();
    let found = runtime
        .tasks()
        .open(app.tenant(), (name, filter), cursor, limit);
    let page = found.await?;
    let items: Vec<Value> = page.tasks.iter().map(model).collect();
    Ok(Answer(json!({ "items": items, "cursor": page.cursor })).into_response())
}

fn model(task: &OpenTask) -> Value {
    let of_type = task.of_type.as_ref();
    json!({
        "taskId": task.task_id,
        "taskName": task.name,
        "activityType": of_type.map(|of_type| &of_type.name),
        "activityTypeVersion": of_type.and_then(|of_type| of_type.version),
        "queue": task.queue,
        "activityId": task.activity_id,
        "activityName": task.activity_name,
        "createdAt": task.since.to_string(),
        "workflowInstanceId": task.instance_id,
        "definitionId": task.summary.definition_id,
        "name": task.summary.name,
        "correlationId": task.summary.correlation_id,
    })
}
