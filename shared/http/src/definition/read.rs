//! Reading definitions, whole.

use axum::Json;
use dormouse_runtime::{DefinitionHandle, DefinitionView, VersionOptions};
use serde_json::{Value, json};

use super::model;
use crate::app::App;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// The version that a definition's id and the parameter `versionOptions` name; the latest without it.
pub(super) async fn find(app: &App, id: &str, query: &Query) -> Result<DefinitionView, Refusal> {
    let version = match query.text("versionoptions") {
        None => VersionOptions::Latest,
        Some(text) => text
            .parse()
            .map_err(|_| Refusal::bad_parameter("versionOptions", text))?,
    };
    let handle = DefinitionHandle::Definition {
        id: id.to_owned(),
        version,
    };
    let view = app
        .runtime()
        .query()
        .definition(app.tenant(), &handle)
        .await?;
    view.ok_or_else(|| Refusal::NoSuchDefinition { id: id.to_owned() })
}

/// `GET /workflow-definitions/by-definition-id/{id}` and `GET /workflow-definitions/{id}`
pub(super) async fn by_definition_id(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<Value>, Refusal> {
    let view = find(&app, &id, &query).await?;
    Ok(Json(model::definition(&app, &view).await?))
}

/// `GET /workflow-definitions/by-id/{id}`
pub(super) async fn by_id(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let view = version(&app, id).await?;
    Ok(Json(model::definition(&app, &view).await?))
}

/// The version of an id.
pub(super) async fn version(app: &App, id: String) -> Result<DefinitionView, Refusal> {
    let handle = DefinitionHandle::version(&id);
    let query = app.runtime().query();
    let view = query.definition(app.tenant(), &handle).await?;
    view.ok_or(Refusal::NoSuchDefinition { id })
}

/// `GET /workflow-definitions/many-by-id`: those of the ids that there are.
pub(super) async fn many_by_id(Scoped(app): Scoped, query: Query) -> Result<Json<Value>, Refusal> {
    let mut items = Vec::new();
    for id in query.all("ids").iter().take(app.config().page_items_max) {
        let handle = DefinitionHandle::version(id);
        let view = app
            .runtime()
            .query()
            .definition(app.tenant(), &handle)
            .await?;
        if let Some(view) = view {
            items.push(model::definition(&app, &view).await?);
        }
    }
    let count = items.len();
    Ok(Json(json!({ "items": items, "count": count })))
}

/// `GET /workflow-definitions/{id}/versions`
pub(super) async fn versions(
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
    let mut items = Vec::new();
    for view in &versions {
        items.push(model::definition(&app, view).await?);
    }
    Ok(Json(items.into()))
}

/// `GET /workflow-definitions/{id}/consumers`
pub(super) async fn consumers(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let found = app.runtime().query().consumers(app.tenant(), &id).await?;
    let found = found.ok_or(Refusal::NoSuchDefinition { id })?;
    Ok(Json(json!({ "consumingWorkflowDefinitionIds": found })))
}
