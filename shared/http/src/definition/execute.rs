//! Executing and dispatching a definition: an instance of it is started, with or without waiting for it.

use axum::Json as Answer;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use dormouse_runtime::{DefinitionHandle, DispatchOutcome, StartRequest, VersionOptions};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::body::{ElsaJson, ElsaJsonOrEmpty, parse};
use crate::instance::start;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// How to run. Elsa's names.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ExecuteRequest {
    correlation_id: Option<String>,
    name: Option<String>,
    trigger_activity_id: Option<String>,
    version_options: Option<VersionOptions>,
    input: Option<Map<String, Value>>,
    instance_id: Option<String>,
    /// The channel of a dispatch: there is the default one.
    channel: Option<String>,
}

impl ExecuteRequest {
    fn refuse_channel(&self) -> Result<(), Refusal> {
        match self.channel.as_deref() {
            None | Some("" | "Default") => Ok(()),
            Some(other) => {
                let told = format!("The channel `{other}` is not configured; leave it out.");
                Err(Refusal::invalid("generalErrors", told))
            }
        }
    }

    fn of_query(query: &Query) -> Result<Self, Refusal> {
        let text = |name: &str| query.text(name).map(str::to_owned);
        let version = query.text("versionoptions").map(|text| {
            text.parse()
                .map_err(|_| Refusal::bad_parameter("versionOptions", text))
        });
        let input = query.text("input").map(|text| parse(text.as_bytes()));
        Ok(Self {
            correlation_id: text("correlationid"),
            name: text("name"),
            trigger_activity_id: text("triggeractivityid"),
            version_options: version.transpose()?,
            input: input.transpose()?,
            instance_id: text("instanceid"),
            channel: None,
        })
    }

    fn start(self, definition_id: String, headers: &HeaderMap) -> StartRequest {
        let mut request = StartRequest::new(DefinitionHandle::Definition {
            id: definition_id,
            version: self.version_options.unwrap_or_default(),
        });
        request.correlation_id = self.correlation_id;
        request.name = self.name;
        request.trigger_activity_id = self.trigger_activity_id;
        request.input = self.input.unwrap_or_default();
        request.instance_id = self.instance_id;
        request.idempotency_key = start::idempotency_key(headers);
        request
    }
}

/// `GET /workflow-definitions/{id}/execute`. A HEAD asks what a GET would answer, and must not do it.
pub(super) async fn by_query(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    method: Method,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Refusal> {
    if method == Method::HEAD {
        return Err(Refusal::HeadWouldStart);
    }
    execute(&app, id, &headers, ExecuteRequest::of_query(&query)?).await
}

/// `POST /workflow-definitions/{id}/execute`
pub(super) async fn by_body(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    headers: HeaderMap,
    ElsaJsonOrEmpty(request): ElsaJsonOrEmpty<ExecuteRequest>,
) -> Result<Response, Refusal> {
    execute(&app, id, &headers, request).await
}

async fn execute(
    app: &App,
    id: String,
    headers: &HeaderMap,
    request: ExecuteRequest,
) -> Result<Response, Refusal> {
    if id.is_empty() {
        return Err(Refusal::NoSuchDefinition { id });
    }
    let mut request = request.start(id.clone(), headers);
    request.has_http_request = true;
    let outcome = app
        .runtime()
        .instances()
        .start(app.tenant(), request)
        .await?;
    start::executed(app, id, outcome).await
}

/// `POST /workflow-definitions/{id}/dispatch`
pub(super) async fn dispatch(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    headers: HeaderMap,
    ElsaJson(request): ElsaJson<ExecuteRequest>,
) -> Result<Answer<Value>, Refusal> {
    request.refuse_channel()?;
    let mut request = request.start(id.clone(), &headers);
    request.ignores_activation = true;
    start::refuse_taken_id(&app, &id, request.instance_id.as_deref()).await?;
    match app
        .runtime()
        .instances()
        .dispatch(app.tenant(), request)
        .await?
    {
        DispatchOutcome::Accepted { instance_id } => {
            Ok(Answer(json!({ "workflowInstanceId": instance_id })))
        }
        DispatchOutcome::NotFound => Err(Refusal::NoSuchDefinition { id }),
    }
}

fn once() -> usize {
    1
}

/// How often to run. Beside the rest of an [`ExecuteRequest`].
#[derive(Debug, Deserialize)]
pub(super) struct BulkRequest {
    #[serde(default = "once")]
    count: usize,
    #[serde(flatten)]
    each: ExecuteRequest,
}

/// `POST /workflow-definitions/{id}/bulk-dispatch`: so many instances, as many as a page of a list at most.
pub(super) async fn bulk_dispatch(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    headers: HeaderMap,
    ElsaJson(request): ElsaJson<BulkRequest>,
) -> Result<Answer<Value>, Refusal> {
    if request.count > app.config().page_items_max {
        return Err(Refusal::bad_parameter("count", &request.count.to_string()));
    }
    let mut ids = Vec::new();
    for place in 0..request.count {
        let mut one = request.each.clone().start(id.clone(), &headers);
        // Each is a start of its own, also when the whole is asked for again under its key.
        one.idempotency_key = one.idempotency_key.map(|key| format!("{key}/{place}"));
        one.instance_id = None;
        one.ignores_activation = true;
        match app
            .runtime()
            .instances()
            .dispatch(app.tenant(), one)
            .await?
        {
            DispatchOutcome::Accepted { instance_id } => ids.push(instance_id),
            DispatchOutcome::NotFound => return Err(Refusal::NoSuchDefinition { id }),
        }
    }
    Ok(Answer(json!({ "workflowInstanceIds": ids })))
}
