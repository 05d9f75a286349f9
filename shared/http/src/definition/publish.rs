//! Publishing, retracting and going back.

use axum::Json;
use axum::http::StatusCode;
use dormouse_runtime::{DefinitionHandle, PublishOutcome, RetractOutcome, SaveOutcome};
use serde::Deserialize;
use serde_json::{Value, json};

use super::model;
use crate::app::App;
use crate::body::{ElsaJson, ElsaJsonOrNone};
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// Publishes the latest version and answers as Elsa does.
pub(super) async fn answer(app: &App, id: &str) -> Result<Json<Value>, Refusal> {
    let id = id.to_owned();
    match app
        .runtime()
        .definitions()
        .publish(app.tenant(), &id)
        .await?
    {
        PublishOutcome::Published(done) => {
            let consumers = done.consumers_updated.len();
            let (view, problems) = (&done.definition, &done.problems);
            let saved = model::saved(app, view, done.was_published, consumers, problems);
            Ok(Json(saved.await?))
        }
        PublishOutcome::Invalid(problems) => Err(Refusal::InvalidDefinition(problems)),
        PublishOutcome::ReadOnly => Err(Refusal::DefinitionReadOnly { id }),
        PublishOutcome::NotFound => Err(Refusal::NoSuchDefinition { id }),
    }
}

/// A request whose members say nothing.
#[derive(Debug, Deserialize)]
pub(super) struct Nothing {}

/// `POST /workflow-definitions/{id}/publish`
pub(super) async fn publish(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    _request: ElsaJsonOrNone<Nothing>,
) -> Result<Json<Value>, Refusal> {
    answer(&app, &id).await
}

/// `POST /workflow-definitions/{id}/retract`
pub(super) async fn retract(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    _request: ElsaJsonOrNone<Nothing>,
) -> Result<Json<Value>, Refusal> {
    match app
        .runtime()
        .definitions()
        .retract(app.tenant(), &id)
        .await?
    {
        RetractOutcome::Retracted(view) => Ok(Json(model::definition(&app, &view).await?)),
        RetractOutcome::NotPublished => Err(Refusal::DefinitionNotPublished { id }),
        RetractOutcome::NotFound => Err(Refusal::NoSuchDefinition { id }),
    }
}

/// `POST /workflow-definitions/{id}/revert/{version}`
pub(super) async fn revert(
    Scoped(app): Scoped,
    Path((id, version)): Path<(String, u32)>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    match app
        .runtime()
        .definitions()
        .revert(app.tenant(), &id, version)
        .await?
    {
        Some(SaveOutcome::Saved { definition, .. }) => {
            Ok((StatusCode::CREATED, Json(model::reverted(&definition))))
        }
        // It names no content that it is made over.
        Some(SaveOutcome::ReadOnly | SaveOutcome::Stale(_)) => {
            Err(Refusal::DefinitionReadOnly { id })
        }
        None => Err(Refusal::NoSuchDefinition {
            id: format!("{id} version {version}"),
        }),
    }
}

/// Definitions by their ids.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Refresh {
    definition_ids: Option<Vec<String>>,
}

/// `POST /actions/workflow-definitions/refresh`: which of them there are. Their triggers are never out of date here.
pub(super) async fn refresh(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<Refresh>,
) -> Result<Json<Value>, Refusal> {
    let ids = request.definition_ids.unwrap_or_default();
    if ids.len() > app.config().page_items_max {
        return Err(Refusal::bad_parameter("definitionIds", "too many"));
    }
    let (mut refreshed, mut missing) = (Vec::new(), Vec::new());
    for id in ids {
        let handle = DefinitionHandle::latest(&id);
        let found = app
            .runtime()
            .query()
            .definition(app.tenant(), &handle)
            .await?;
        let list = match found {
            Some(_) => &mut refreshed,
            None => &mut missing,
        };
        list.push(id);
    }
    Ok(Json(json!({ "refreshed": refreshed, "notFound": missing })))
}

/// `POST /actions/workflow-definitions/reload`: definitions are read from the table, so there is nothing to reload.
pub(super) async fn reload() -> StatusCode {
    StatusCode::OK
}

/// `POST /workflow-definitions/{id}/update-references`
pub(super) async fn update_references(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let versions = app
        .runtime()
        .query()
        .definition_versions(app.tenant(), &id)
        .await?;
    if versions.is_empty() {
        return Err(Refusal::NoSuchDefinition { id });
    }
    let affected = app
        .runtime()
        .definitions()
        .update_references(app.tenant(), &id)
        .await?;
    Ok(Json(json!({ "affectedWorkflows": affected })))
}
