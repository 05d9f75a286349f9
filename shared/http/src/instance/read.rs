//! Reading one instance.

use axum::Json;
use dormouse_engine::time::Timestamp;
use serde_json::{Value, json};

use super::model;
use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `GET /workflow-instances/{id}`
pub(super) async fn instance(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let found = app.runtime().query().instance(app.tenant(), &id).await?;
    let detail = found.ok_or_else(|| Refusal::NoSuchInstance { id: id.clone() })?;
    let mut out = model::summary(&id, &detail.head.summary);
    let mut state = model::state(&detail.instance, &detail.graph);
    let executions = app.runtime().query().activity_executions(app.tenant(), &id);
    model::enrich(&mut state, &executions.await?.unwrap_or_default());
    out.insert("workflowState".into(), state);
    Ok(Json(out.into()))
}

/// `GET /workflow-instances/{id}/execution-state`
pub(super) async fn execution_state(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let found = app
        .runtime()
        .query()
        .instance_head(app.tenant(), &id)
        .await?;
    let summary = found.ok_or(Refusal::NoSuchInstance { id })?.summary;
    Ok(Json(json!({
        "status": summary.status,
        "subStatus": summary.sub_status,
        "updatedAt": Timestamp(summary.updated_ms).to_string(),
    })))
}
