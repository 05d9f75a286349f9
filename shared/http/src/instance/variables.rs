//! The variables of an instance, read and set.

use axum::Json as Answer;
use dormouse_engine::sensitive::redact;
use dormouse_engine::step::Change;
use dormouse_runtime::AlterOutcome;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::access::READ_INSTANCES;
use crate::app::App;
use crate::body::ElsaJson;
use crate::path::Path;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// `GET /workflow-instances/{id}/variables`
pub(super) async fn list(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<Answer<Value>, Refusal> {
    answer(&app, id, &[]).await
}

/// Which variables get which values.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SetVariables {
    variables: Vec<SetVariable>,
}

/// One of them.
#[derive(Debug, Deserialize)]
struct SetVariable {
    id: String,
    #[serde(default)]
    value: Value,
}

/// `POST /workflow-instances/{id}/variables`: sets all of them in one commit, or none.
pub(super) async fn set(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    ElsaJson(request): ElsaJson<SetVariables>,
) -> Result<Answer<Value>, Refusal> {
    if request.variables.is_empty() {
        return answer(&app, id, &[]).await;
    }
    let set: Vec<String> = request.variables.iter().map(|v| v.id.clone()).collect();
    let changes = request.variables.into_iter();
    let changes = changes.map(|v| Change::PutVariable {
        id: v.id,
        value: v.value,
    });
    let outcome = app
        .runtime()
        .instances()
        .alter(app.tenant(), &id, changes.collect());
    match outcome.await? {
        AlterOutcome::Altered(_) => answer(&app, id, &set).await,
        // Only a retry opens an instance again, and only a migration goes elsewhere.
        AlterOutcome::NotPossible(_)
        | AlterOutcome::CannotMigrate(_)
        | AlterOutcome::NotAllowed { .. } => {
            Err(Operating::NoSuchVariable { instance_id: id }.into())
        }
        AlterOutcome::Ended(head) => Err(Refusal::InstanceEnded {
            id,
            sub_status: head.summary.sub_status,
        }),
        AlterOutcome::Deleted => Err(Refusal::InstanceDeleted { id }),
        AlterOutcome::NotFound => answer(&app, id, &set).await,
    }
}

/// All variables; for a caller who may not read instances, those that they have just `set`.
async fn answer(app: &App, id: String, set: &[String]) -> Result<Answer<Value>, Refusal> {
    let found = app.runtime().query().variables(app.tenant(), &id).await?;
    // Elsa lists none where there is no instance.
    let found = found.unwrap_or_default();
    let may_read = app.principal().permissions.allow(READ_INSTANCES);
    let mut items: Vec<Value> = found
        .iter()
        .filter(|v| may_read || set.contains(&v.id))
        .map(|v| json!({ "id": v.id, "name": v.name, "value": v.value }))
        .collect();
    items.iter_mut().for_each(redact);
    let count = items.len();
    Ok(Answer(json!({ "items": items, "count": count })))
}
