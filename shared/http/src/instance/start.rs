//! Starting instances, and what is answered to it.

use axum::Json;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use dormouse_engine::graph::Graph;
use dormouse_engine::instance::{Instance, SubStatus};
use dormouse_runtime::query::InstanceHead;
use dormouse_runtime::{BurstReport, DefinitionHandle, StartOutcome, StartRequest, VersionOptions};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::accepted::accepted;
use super::model;
use crate::access::READ_INSTANCES;
use crate::app::App;
use crate::body::Json as Body;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;
use crate::workflow;

/// A start by `POST /workflow-starts`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewInstance {
    definition_id: String,
    version_options: Option<VersionOptions>,
    #[serde(alias = "instanceId")]
    id: Option<String>,
    correlation_id: Option<String>,
    name: Option<String>,
    trigger_activity_id: Option<String>,
    input: Option<Map<String, Value>>,
}

/// The client's key for a request that it may repeat.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("idempotency-key")?.to_str().ok()?;
    (!value.is_empty()).then(|| value.to_owned())
}

/// `POST /workflow-starts`: starts an instance: 201, or 200 if this start was made before. Not in Elsa.
pub(super) async fn by_body(
    Scoped(app): Scoped,
    headers: HeaderMap,
    Body(new): Body<NewInstance>,
) -> Result<Response, Refusal> {
    let id = new.definition_id;
    let mut request = StartRequest::new(DefinitionHandle::Definition {
        id: id.clone(),
        version: new.version_options.unwrap_or_default(),
    });
    request.instance_id = new.id;
    request.idempotency_key = idempotency_key(&headers);
    request.correlation_id = new.correlation_id;
    request.name = new.name;
    request.trigger_activity_id = new.trigger_activity_id;
    request.input = new.input.unwrap_or_default();
    let outcome = app
        .runtime()
        .instances()
        .start(app.tenant(), request)
        .await?;
    match begun(id, outcome)? {
        Begun::Now(report) => {
            let body = started(&report.instance, &report.graph, &report.lines);
            let mut answer = (StatusCode::CREATED, Json(body)).into_response();
            if report.goes_on {
                accepted(&mut answer, report.instance.id.as_str());
            }
            Ok(answer)
        }
        Begun::Before(head) => Ok(Json(again(&app, &head)).into_response()),
    }
}

/// A start that was not refused.
enum Begun {
    Now(Box<BurstReport>),
    /// Under the same id or key, by an earlier request.
    Before(Box<InstanceHead>),
}

fn begun(definition_id: String, outcome: StartOutcome) -> Result<Begun, Refusal> {
    match outcome {
        StartOutcome::Started(report) => Ok(Begun::Now(report)),
        StartOutcome::AlreadyStarted(head) => {
            refuse_other_workflow(&head, &definition_id)?;
            Ok(Begun::Before(head))
        }
        StartOutcome::Deleted { instance_id } => Err(Refusal::InstanceDeleted { id: instance_id }),
        StartOutcome::NotAllowed { holder } => Err(Refusal::StartRefused {
            id: definition_id,
            holder,
        }),
        StartOutcome::NotFound | StartOutcome::Stale => {
            Err(Refusal::NoSuchDefinition { id: definition_id })
        }
    }
}

/// Refuses an id that an instance of another workflow has: its caller would take that one's state for their own.
fn refuse_other_workflow(head: &InstanceHead, definition_id: &str) -> Result<(), Refusal> {
    if head.summary.definition_id == definition_id {
        return Ok(());
    }
    let id = head.instance_id.clone();
    Err(Operating::IdTaken { id }.into())
}

/// Refuses a start under an id that an instance of another workflow has, before it is accepted. One read.
pub(crate) async fn refuse_taken_id(
    app: &App,
    definition_id: &str,
    instance_id: Option<&str>,
) -> Result<(), Refusal> {
    let Some(id) = instance_id.filter(|id| !id.is_empty()) else {
        return Ok(());
    };
    let found = app.runtime().query().instance_head(app.tenant(), id);
    match found.await? {
        Some(head) => refuse_other_workflow(&head, definition_id),
        None => Ok(()),
    }
}

fn started(instance: &Instance, graph: &Graph, lines: &[String]) -> Value {
    let bookmarks = instance.bookmarks.iter();
    json!({
        "id": instance.id.as_str(),
        "workflowInstanceId": instance.id.as_str(),
        "definitionId": instance.definition_id,
        "definitionVersionId": instance.version_id,
        "version": instance.version,
        "status": instance.status().as_str(),
        "subStatus": instance.sub_status.as_str(),
        "correlationId": instance.correlation_id,
        "name": instance.name,
        "output": instance.output,
        "incidentCount": instance.incidents.len(),
        "bookmarks": bookmarks.map(|b| model::bookmark(b, instance, graph)).collect::<Vec<_>>(),
        "lines": lines,
        "isRepeated": false,
    })
}

/// The answer to a start that was made before: how the instance stands now, for those who may read instances.
fn again(app: &App, head: &InstanceHead) -> Value {
    if !may_read(app) {
        return only_id(&head.instance_id);
    }
    let mut out = model::summary(&head.instance_id, &head.summary);
    out.insert(
        "workflowInstanceId".into(),
        head.instance_id.as_str().into(),
    );
    out.insert("isRepeated".into(), true.into());
    out.into()
}

fn may_read(app: &App) -> bool {
    app.principal().permissions.allow(READ_INSTANCES)
}

fn only_id(instance_id: &str) -> Value {
    json!({ "id": instance_id, "workflowInstanceId": instance_id, "isRepeated": true })
}

/// The answer of Elsa's execute: the state, or whatever the workflow itself answers. 500 if it failed.
pub(crate) async fn executed(
    app: &App,
    definition_id: String,
    outcome: StartOutcome,
) -> Result<Response, Refusal> {
    let (instance, graph, response, goes_on) = match begun(definition_id, outcome) {
        Ok(Begun::Now(report)) => {
            let goes_on = report.goes_on;
            (report.instance, report.graph, report.response, goes_on)
        }
        Ok(Begun::Before(head)) if !may_read(app) => {
            let mut answer = Json(only_id(&head.instance_id)).into_response();
            describe(&mut answer, &head.instance_id, false);
            return Ok(answer);
        }
        Ok(Begun::Before(head)) => {
            let found = app
                .runtime()
                .query()
                .instance(app.tenant(), &head.instance_id)
                .await?;
            let id = head.instance_id;
            let detail = found.ok_or(Refusal::NoSuchInstance { id })?;
            (detail.instance, detail.graph, None, false)
        }
        Err(Refusal::StartRefused { .. }) => {
            let headers = [(CANNOT_START, HeaderValue::from_static("True"))];
            return Ok((StatusCode::OK, headers).into_response());
        }
        Err(refusal) => return Err(refusal),
    };
    let is_workflows = response.is_some();
    let mut answer = match response {
        Some(response) => workflow::response(response),
        None => {
            let body = json!({ "workflowState": model::state(&instance, &graph) });
            (status(&instance), Json(body)).into_response()
        }
    };
    if goes_on && !is_workflows {
        accepted(&mut answer, instance.id.as_str());
    }
    describe(&mut answer, instance.id.as_str(), is_workflows);
    Ok(answer)
}

/// Adds the headers by which Elsa's clients know the instance.
fn describe(answer: &mut Response, instance_id: &str, is_workflows: bool) {
    let headers = answer.headers_mut();
    headers.insert(CANNOT_START, HeaderValue::from_static("False"));
    if let Ok(id) = HeaderValue::from_str(instance_id) {
        headers.insert(INSTANCE_ID, id);
    }
    if !is_workflows {
        headers.insert(IS_ENGINES, HeaderValue::from_static("true"));
    }
    headers.insert(
        HeaderName::from_static("access-control-expose-headers"),
        HeaderValue::from_static("x-elsa-workflow-instance-id, x-elsa-workflow-cannot-start"),
    );
}

const CANNOT_START: HeaderName = HeaderName::from_static("x-elsa-workflow-cannot-start");
const INSTANCE_ID: HeaderName = HeaderName::from_static("x-elsa-workflow-instance-id");
const IS_ENGINES: HeaderName = HeaderName::from_static("x-elsa-response");

fn status(instance: &Instance) -> StatusCode {
    match instance.sub_status {
        SubStatus::Faulted => StatusCode::INTERNAL_SERVER_ERROR,
        SubStatus::Pending
        | SubStatus::Executing
        | SubStatus::Suspended
        | SubStatus::Finished
        | SubStatus::Cancelled
        | SubStatus::Interrupted => StatusCode::OK,
    }
}
