//! Cancelling and deleting instances.

use axum::Json;
use axum::http::StatusCode;
use dormouse_runtime::{DeleteOutcome, ResumeOutcome};
use serde_json::Value;

use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `POST /cancel/workflow-instances/{id}`. One that has ended already stays as it is, and one
/// that there is not is none to cancel: both are fine, as in Elsa.
pub(super) async fn cancel(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    match app.runtime().instances().cancel(app.tenant(), &id).await? {
        ResumeOutcome::Resumed(_)
        | ResumeOutcome::Ended(_)
        | ResumeOutcome::BookmarkGone(_)
        | ResumeOutcome::Seen(_)
        | ResumeOutcome::NotFound => Ok(Json(Value::Null)),
        ResumeOutcome::NotYet => Err(Refusal::BookmarkNotYetOpen { instance_id: id }),
        ResumeOutcome::Deleted => Err(Refusal::InstanceDeleted { id }),
    }
}

/// `DELETE /workflow-instances/{id}`
pub(super) async fn delete(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    match app.runtime().instances().delete(app.tenant(), &id).await? {
        DeleteOutcome::Deleted => Ok(StatusCode::NO_CONTENT),
        DeleteOutcome::Already | DeleteOutcome::NotFound => Err(Refusal::NoSuchInstance { id }),
    }
}
