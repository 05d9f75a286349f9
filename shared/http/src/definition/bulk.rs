//! The same for many definitions at once: publish, retract, delete, export. Each is done by itself; the answer counts.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json as Answer, Router};
use dormouse_runtime::{DefinitionHandle, PublishOutcome, RetractOutcome};
use serde::Deserialize;
use serde_json::{Value, json};

use super::export::zip_of;
use super::remove;
use crate::app::App;
use crate::body::{ElsaJson, ElsaJsonOrNone};
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// The most versions of one archive, which is made in memory.
const EXPORTED_MAX: usize = 100;

/// The routes, relative to the API's prefix.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route(
            "/bulk-actions/delete/workflow-definitions/by-definition-id",
            post(delete),
        )
        .route(
            "/bulk-actions/delete/workflow-definitions/by-id",
            post(delete_versions),
        )
        .route(
            "/bulk-actions/publish/workflow-definitions/by-definition-ids",
            post(publish),
        )
        .route(
            "/bulk-actions/retract/workflow-definitions/by-definition-ids",
            post(retract),
        )
        .route(
            "/bulk-actions/export/workflow-definitions",
            post(export).get(export_by_query),
        )
}

/// Definitions by their ids.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Definitions {
    definition_ids: Vec<String>,
}

/// Versions by their ids.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Versions {
    ids: Vec<String>,
}

async fn delete(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<Definitions>,
) -> Result<Answer<Value>, Refusal> {
    let mut deleted = 0;
    for id in bounded(app.config().page_items_max, &request.definition_ids)? {
        deleted += usize::from(remove::delete(&app, id).await?);
    }
    Ok(Answer(json!({ "deleted": deleted })))
}

async fn delete_versions(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<Versions>,
) -> Result<Answer<Value>, Refusal> {
    let runtime = app.runtime();
    let mut deleted = 0;
    for id in bounded(app.config().page_items_max, &request.ids)? {
        let handle = DefinitionHandle::version(id);
        let Some(view) = runtime.query().definition(app.tenant(), &handle).await? else {
            continue;
        };
        let (id, version) = (&view.definition_id, view.version);
        deleted += usize::from(
            runtime
                .definitions()
                .delete_version(app.tenant(), id, version)
                .await?,
        );
    }
    Ok(Answer(json!({ "deleted": deleted })))
}

async fn publish(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<Definitions>,
) -> Result<Answer<Value>, Refusal> {
    let (mut published, mut already, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    let (mut skipped, mut failed, mut consumers) = (Vec::new(), Vec::new(), Vec::new());
    for id in bounded(app.config().page_items_max, &request.definition_ids)? {
        match app
            .runtime()
            .definitions()
            .publish(app.tenant(), id)
            .await?
        {
            PublishOutcome::Published(done) => {
                consumers.extend(done.consumers_updated);
                let list = if done.was_published {
                    &mut already
                } else {
                    &mut published
                };
                list.push(id);
            }
            PublishOutcome::Invalid(_) => failed.push(id),
            PublishOutcome::ReadOnly => skipped.push(id),
            PublishOutcome::NotFound => missing.push(id),
        }
    }
    Ok(Answer(json!({
        "published": published,
        "alreadyPublished": already,
        "notFound": missing,
        "skipped": skipped,
        "updatedConsumers": consumers,
        "failed": failed,
        "warnings": {},
    })))
}

async fn retract(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<Definitions>,
) -> Result<Answer<Value>, Refusal> {
    let (mut retracted, mut not_published, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for id in bounded(app.config().page_items_max, &request.definition_ids)? {
        match app
            .runtime()
            .definitions()
            .retract(app.tenant(), id)
            .await?
        {
            RetractOutcome::Retracted(_) => retracted.push(id),
            RetractOutcome::NotPublished => not_published.push(id),
            RetractOutcome::NotFound => missing.push(id),
        }
    }
    Ok(Answer(json!({
        "retracted": retracted,
        "alreadyRetracted": [],
        "skipped": [],
        "notPublished": not_published,
        "notFound": missing,
    })))
}

/// A zip with one file for each version that there is.
async fn export(
    Scoped(app): Scoped,
    ElsaJsonOrNone(request): ElsaJsonOrNone<Versions>,
) -> Result<Response, Refusal> {
    export_of(&app, &request.ids).await
}

/// `GET /bulk-actions/export/workflow-definitions?ids=`
async fn export_by_query(Scoped(app): Scoped, query: Query) -> Result<Response, Refusal> {
    export_of(&app, &query.all("ids")).await
}

/// The archive; 204 where there is nothing to put in.
async fn export_of(app: &App, ids: &[String]) -> Result<Response, Refusal> {
    let mut views = Vec::new();
    for id in bounded(EXPORTED_MAX, ids)? {
        let handle = DefinitionHandle::version(id);
        views.extend(
            app.runtime()
                .query()
                .definition(app.tenant(), &handle)
                .await?,
        );
    }
    match views.as_slice() {
        [] => Ok(StatusCode::NO_CONTENT.into_response()),
        views => zip_of(views),
    }
}

/// No more than `max` of them.
fn bounded(max: usize, ids: &[String]) -> Result<&[String], Refusal> {
    if ids.len() > max {
        let told = format!("{} of them; the limit is {max}", ids.len());
        return Err(Refusal::bad_parameter("ids", &told));
    }
    Ok(ids)
}
