//! Exporting instances: their state and what they did, for people and other programs to read, and to come back
//! ([`super::import`]).

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use dormouse_engine::activity::event::EVENT;
use dormouse_engine::graph::Graph;
use dormouse_engine::http::{File, archive, content_disposition};
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::Instance;
use dormouse_engine::journal::Line;
use dormouse_runtime::query::JOURNAL_LINES_MAX;
use dormouse_runtime::{Exported, InstanceFile};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::reference::numbered;
use super::{import, journal, model};
use crate::activity_execution;
use crate::app::App;
use crate::body::Json;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// The most instances of one archive, which is made in memory.
const EXPORTED_MAX: usize = 100;

/// What to export. Elsa's names.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ExportRequest {
    ids: Vec<String>,
    include_bookmarks: bool,
    include_activity_execution_log: bool,
    include_workflow_execution_log: bool,
}

/// `GET /workflow-instances/{id}/export`
pub(super) async fn by_query(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, Refusal> {
    let flag = |name| query.read::<bool>(name).map(Option::unwrap_or_default);
    let request = ExportRequest {
        ids: Vec::new(),
        include_bookmarks: flag("includebookmarks")?,
        include_activity_execution_log: flag("includeactivityexecutionlog")?,
        include_workflow_execution_log: flag("includeworkflowexecutionlog")?,
    };
    one(&app, &id, &request).await
}

/// `POST /workflow-instances/{id}/export`
pub(super) async fn by_body(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    Json(request): Json<ExportRequest>,
) -> Result<Response, Refusal> {
    one(&app, &id, &request).await
}

async fn one(app: &App, id: &str, request: &ExportRequest) -> Result<Response, Refusal> {
    let found = exported(app, id, request).await?;
    let file = found.ok_or_else(|| Refusal::NoSuchInstance { id: id.to_owned() })?;
    Ok(attachment(&format!("workflow-instance-{id}.json"), file))
}

/// `POST /bulk-actions/export/workflow-instances`: an archive with a file for each that there is.
pub(super) async fn many(
    Scoped(app): Scoped,
    Json(request): Json<ExportRequest>,
) -> Result<Response, Refusal> {
    if request.ids.len() > EXPORTED_MAX {
        let told = format!("{} of them; the limit is {EXPORTED_MAX}", request.ids.len());
        return Err(Refusal::bad_parameter("ids", &told));
    }
    // As in Elsa, one instance is no archive.
    if let [id] = request.ids.as_slice() {
        return one(&app, id, &request).await;
    }
    let mut files = Vec::new();
    let (limit, mut total) = (app.config().body_bytes_max, 0);
    for id in &request.ids {
        if let Some(bytes) = exported(&app, id, &request).await? {
            total += bytes.len();
            if total > limit {
                return Err(Operating::ExportTooLarge { limit }.into());
            }
            files.push(File {
                name: format!("workflow-instance-{id}.json"),
                bytes,
                ..File::default()
            });
        }
    }
    if files.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let zip = archive(&files).ok_or(Refusal::BodyTooLarge { limit: usize::MAX })?;
    Ok(attachment("workflow-instances.zip", zip))
}

fn attachment(name: &str, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, content_disposition(name)),
    ];
    (headers, bytes).into_response()
}

/// Adds a member to an object.
fn put(value: &mut Value, name: &str, member: impl Into<Value>) {
    if let Value::Object(members) = value {
        members.insert(name.to_owned(), member.into());
    }
}

/// A bookmark as Elsa keeps it beside instances.
fn stored_bookmark(instance: &str, bookmark: &Value) -> Value {
    let mut payload = bookmark["payload"].clone();
    if bookmark["name"] == EVENT {
        put(&mut payload, "_type", "EventStimulus");
    }
    json!({
        "id": bookmark["id"],
        "activityTypeName": bookmark["name"],
        "hash": bookmark["hash"],
        "workflowInstanceId": instance,
        "activityInstanceId": bookmark["activityInstanceId"],
        "correlationId": null,
        "payload": payload,
        "metadata": null,
        "createdAt": bookmark["createdAt"],
    })
}

/// A line of the journal as Elsa keeps it beside instances.
fn logged(id: &InstanceId, line: &Line, of: &Instance) -> Value {
    let mut record = journal::record(id, line);
    put(
        &mut record,
        "workflowDefinitionId",
        of.definition_id.as_str(),
    );
    put(
        &mut record,
        "workflowDefinitionVersionId",
        of.version_id.as_str(),
    );
    put(&mut record, "workflowVersion", of.version);
    record
}

/// An instance as Elsa writes it into a file. `None`: there is none.
async fn exported(
    app: &App,
    id: &str,
    request: &ExportRequest,
) -> Result<Option<Vec<u8>>, Refusal> {
    let runtime = app.runtime();
    // What is exported can be imported: an answer is no larger than a request may be.
    let limit = app.config().body_bytes_max;
    let too_large = || Operating::ExportTooLarge { limit };
    let mut whole = match runtime.instances().export(app.tenant(), id, limit).await? {
        Exported::File(whole) => whole,
        Exported::TooLarge => return Err(too_large().into()),
        Exported::NotFound => return Ok(None),
    };
    let Some(found) = runtime.query().instance(app.tenant(), id).await? else {
        return Ok(None);
    };
    redact(&mut whole, &found.graph);
    let mut file = Map::new();
    let mut state = model::state(&found.instance, &found.graph);
    let executions = runtime.query().activity_executions(app.tenant(), id);
    model::enrich(&mut state, &executions.await?.unwrap_or_default());
    for part in [
        "Bookmarks",
        "ActivityExecutionRecords",
        "WorkflowExecutionLogRecords",
    ] {
        file.insert(part.into(), Value::Null);
    }
    if request.include_bookmarks {
        let bookmarks = state.get("bookmarks").and_then(Value::as_array);
        let bookmarks = bookmarks.into_iter().flatten();
        let bookmarks: Vec<Value> = bookmarks.map(|b| stored_bookmark(id, b)).collect();
        file.insert("Bookmarks".into(), bookmarks.into());
    }
    file.insert("WorkflowState".into(), numbered(state));
    if request.include_activity_execution_log {
        let records = activity_execution::records(app, id).await?;
        file.insert("ActivityExecutionRecords".into(), records.into());
    }
    if request.include_workflow_execution_log {
        let journal = runtime
            .query()
            .journal(app.tenant(), id, 0, JOURNAL_LINES_MAX)
            .await?;
        let instance = InstanceId::from(id);
        let journal = journal.unwrap_or_default();
        if journal.total > journal.lines.len() as u64 {
            return Err(Operating::ExportTooLarge { limit }.into());
        }
        let lines = journal.lines;
        let records: Vec<Value> = lines
            .iter()
            .map(|line| logged(&instance, line, &found.instance))
            .collect();
        file.insert("WorkflowExecutionLogRecords".into(), json!(records));
    }
    // A `Value` always has a text.
    let bytes = serde_json::to_vec_pretty(&import::with_part(file, &whole)).unwrap_or_default();
    if bytes.len() > limit {
        return Err(too_large().into());
    }
    Ok(Some(bytes))
}

/// Takes the credentials out of a state that leaves. One that cannot be read leaves as it is; an import will say so.
fn redact(whole: &mut InstanceFile, graph: &Graph) {
    let Ok(before) = Instance::decode(&whole.state, graph) else {
        return;
    };
    let mut after = before.clone();
    after.redact();
    if after != before {
        whole.state = after.encode(graph).into();
    }
}
