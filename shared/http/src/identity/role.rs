//! Roles.

use axum::Json as Answer;
use axum::http::StatusCode;
use dormouse_runtime::identity::{Role, RoleOutcome};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::body::ElsaJson;
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// What a role is to be. Elsa's names.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RoleRequest {
    id: Option<String>,
    name: Option<String>,
    permissions: Vec<String>,
}

impl RoleRequest {
    fn role(self, id: Option<String>) -> Result<Role, Refusal> {
        // Elsa makes the id of the name.
        let of_name = self
            .name
            .as_ref()
            .map(|n| n.trim().to_lowercase().replace(' ', "-"));
        let id = id.or(self.id).or(of_name).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| Refusal::WrongShape {
            reason: "a role needs a `name`, or an `id`".to_owned(),
        })?;
        Ok(Role {
            name: self.name.unwrap_or_else(|| id.clone()),
            permissions: self.permissions,
            id,
        })
    }
}

/// `GET /identity/roles`
pub(super) async fn list(Scoped(app): Scoped) -> Result<Answer<Value>, Refusal> {
    let roles = app.runtime().accounts().roles(app.tenant()).await?;
    let items: Vec<Value> = roles.iter().map(model).collect();
    let count = items.len();
    // Elsa's member is `roles`.
    Ok(Answer(
        json!({ "roles": items, "items": items, "totalCount": count }),
    ))
}

/// `POST /identity/roles`
pub(super) async fn create(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<RoleRequest>,
) -> Result<Answer<Value>, Refusal> {
    let role = request.role(None)?;
    let outcome = app.identity().put_role(app.principal(), role, true).await?;
    answer(outcome, "")
}

/// `PUT /identity/roles/{id}`
pub(super) async fn update(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    ElsaJson(request): ElsaJson<RoleRequest>,
) -> Result<Answer<Value>, Refusal> {
    let role = request.role(Some(id.clone()))?;
    let outcome = app
        .identity()
        .put_role(app.principal(), role, false)
        .await?;
    answer(outcome, &id)
}

/// `DELETE /identity/roles/{id}`. 409 while somebody has it.
pub(super) async fn delete(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    let outcome = app.identity().delete_role(app.principal(), &id).await?;
    answer(outcome, &id).map(|_| StatusCode::NO_CONTENT)
}

/// `GET /identity/roles/{id}/deletion-impact`: how many have it.
pub(super) async fn impact(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<Answer<Value>, Refusal> {
    let roles = app.runtime().accounts().roles(app.tenant()).await?;
    if !roles.iter().any(|role| role.id == id) {
        return Err(Refusal::NoSuchRole { id });
    }
    let holders = app.identity().holders(app.tenant(), &id).await?;
    Ok(Answer(json!({
        "roleId": id,
        "holders": holders,
        "canDelete": holders == 0,
        "canRemediate": false,
        "configurationReferences": [],
        "editableReferences": [],
        "warnings": [],
        "executionMode": "atomic",
    })))
}

fn answer(outcome: RoleOutcome, id: &str) -> Result<Answer<Value>, Refusal> {
    match outcome {
        RoleOutcome::Done(role) => Ok(Answer(model(&role))),
        RoleOutcome::Taken => Err(Refusal::NameTaken),
        RoleOutcome::NotYours => Err(Refusal::MoreThanYours),
        RoleOutcome::InUse => Err(Refusal::RoleInUse { id: id.to_owned() }),
        RoleOutcome::NotFound => Err(Refusal::NoSuchRole { id: id.to_owned() }),
    }
}

fn model(role: &Role) -> Value {
    json!({ "id": role.id, "name": role.name, "permissions": role.permissions })
}
