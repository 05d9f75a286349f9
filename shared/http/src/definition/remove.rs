//! Deleting definitions and versions. Instances of them go on.

use axum::http::StatusCode;
use dormouse_runtime::DefinitionHandle;

use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `DELETE /workflow-definitions/{id}`
pub(super) async fn definition(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    if app
        .runtime()
        .definitions()
        .delete(app.tenant(), &id)
        .await?
    {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Refusal::NoSuchDefinition { id })
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
