//! Deleting definitions, with their instances, and versions, whose instances go on.

use axum::http::StatusCode;
use dormouse_runtime::DefinitionHandle;
use dormouse_runtime::query::{InstanceFilter, Paging};

use crate::app::App;
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `DELETE /workflow-definitions/{id}`
pub(super) async fn definition(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    let handle = DefinitionHandle::latest(&id);
    let found = app
        .runtime()
        .query()
        .definition(app.tenant(), &handle)
        .await?;
    if found.is_some_and(|view| view.definition.is_readonly) {
        return Err(Refusal::DefinitionReadOnly { id });
    }
    if delete(&app, &id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Refusal::NoSuchDefinition { id })
    }
}

/// Deletes a definition, and then its instances, as Elsa does. False: there was none.
pub(super) async fn delete(app: &App, id: &str) -> Result<bool, Refusal> {
    let runtime = app.runtime();
    if !runtime.definitions().delete(app.tenant(), id).await? {
        return Ok(false);
    }
    let filter = InstanceFilter {
        definition_ids: vec![id.to_owned()],
        ..InstanceFilter::default()
    };
    let mut page = Paging {
        ascending: false,
        skip: 0,
        limit: app.config().page_items_max,
        cursor: None,
    };
    loop {
        let found = runtime
            .query()
            .instances(app.tenant(), &filter, &page)
            .await?;
        for one in found.instances {
            runtime
                .instances()
                .delete(app.tenant(), &one.instance_id)
                .await?;
        }
        page.cursor = found.cursor;
        if page.cursor.is_none() {
            return Ok(true);
        }
    }
}

/// `DELETE /workflow-definitions/{id}/version/{version}`: 200 where the others have 204, as in Elsa.
pub(super) async fn version(
    Scoped(app): Scoped,
    Path((id, version)): Path<(String, u32)>,
) -> Result<StatusCode, Refusal> {
    if app
        .runtime()
        .definitions()
        .delete_version(app.tenant(), &id, version)
        .await?
    {
        Ok(StatusCode::OK)
    } else {
        Err(Refusal::NoSuchDefinition {
            id: format!("{id} version {version}"),
        })
    }
}

/// `DELETE /workflow-definition-versions/{id}`
pub(super) async fn version_by_id(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    let handle = DefinitionHandle::version(&id);
    let found = app
        .runtime()
        .query()
        .definition(app.tenant(), &handle)
        .await?;
    let view = found.ok_or_else(|| Refusal::NoSuchDefinition { id: id.clone() })?;
    let (definition_id, version) = (&view.definition_id, view.version);
    if app
        .runtime()
        .definitions()
        .delete_version(app.tenant(), definition_id, version)
        .await?
    {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Refusal::NoSuchDefinition { id })
    }
}
