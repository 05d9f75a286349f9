//! What the caller hears of an error of the runtime or the store.

use axum::http::StatusCode;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::port::ComputeError;
use dormouse_runtime::{RuntimeError, StoreError, TableError};

use super::Facts;

/// Status, code and sentence.
pub(super) fn facts(error: &RuntimeError) -> Facts {
    use StatusCode as S;
    let inside =
        "something is wrong inside the server; its log says what. Try again later".to_owned();
    let (status, code, detail) = match error {
        RuntimeError::InProgress { .. } => (S::CONFLICT, "inProgress", error.to_string()),
        RuntimeError::LeaseLost { .. } => (
            S::CONFLICT,
            "takenOver",
            format!("{error}; look at it before you try again"),
        ),
        RuntimeError::DefinitionContended { .. } => {
            (S::CONFLICT, "definitionContended", error.to_string())
        }
        RuntimeError::Paused { since_ms } => (
            S::SERVICE_UNAVAILABLE,
            "paused",
            format!(
                "nothing was done: workflows are paused since {}, and nothing starts or goes on until whoever has the permission ManageWorkflowRuntime ends that with a POST to /elsa/api/admin/workflow-runtime/resume; come back later",
                Timestamp(*since_ms)
            ),
        ),
        RuntimeError::Shared(error) => return facts(error),
        RuntimeError::Store(error) => return store(error),
        RuntimeError::Instance { .. } => (
            S::INTERNAL_SERVER_ERROR,
            "instanceUnreadable",
            error.to_string(),
        ),
        RuntimeError::StoredDefinition { .. } => (
            S::INTERNAL_SERVER_ERROR,
            "definitionUnreadable",
            error.to_string(),
        ),
        RuntimeError::StoredType { .. } => (
            S::INTERNAL_SERVER_ERROR,
            "activityTypeUnreadable",
            error.to_string(),
        ),
        RuntimeError::VersionMissing { .. } => (
            S::INTERNAL_SERVER_ERROR,
            "versionMissing",
            error.to_string(),
        ),
        RuntimeError::StepTooLong { .. } => {
            (S::UNPROCESSABLE_ENTITY, "scriptsTooLong", error.to_string())
        }
        RuntimeError::Compute(ComputeError::Saturated(_)) => {
            (S::SERVICE_UNAVAILABLE, "overloaded", error.to_string())
        }
        RuntimeError::Compute(ComputeError::Lost) => (S::INTERNAL_SERVER_ERROR, "internal", inside),
        RuntimeError::Format { .. } => (S::INTERNAL_SERVER_ERROR, "internal", inside),
        RuntimeError::Scheduler(_)
        | RuntimeError::Vault(_)
        | RuntimeError::Queue(_)
        | RuntimeError::Bus(_) => (S::SERVICE_UNAVAILABLE, "portFailed", inside),
    };
    Facts {
        status,
        code,
        detail,
    }
}

fn store(error: &StoreError) -> Facts {
    use StatusCode as S;
    let (status, code) = match error {
        StoreError::Table(table) => match table {
            TableError::Busy => (S::SERVICE_UNAVAILABLE, "busy"),
            TableError::Unknown(_) => (S::SERVICE_UNAVAILABLE, "unknownOutcome"),
            TableError::TooLarge { .. } => (S::PAYLOAD_TOO_LARGE, "tooLarge"),
            TableError::Full(_) => (S::INSUFFICIENT_STORAGE, "diskFull"),
            TableError::BadCursor => (S::BAD_REQUEST, "badCursor"),
            TableError::Invalid(_) => (S::BAD_REQUEST, "badId"),
            TableError::InUse(_) => (S::SERVICE_UNAVAILABLE, "inUse"),
            TableError::Unusable(..) => (S::INTERNAL_SERVER_ERROR, "tableUnusable"),
        },
        StoreError::BadId { .. } => (S::BAD_REQUEST, "badId"),
        StoreError::TooLarge { .. } | StoreError::NoBlobs { .. } => {
            (S::PAYLOAD_TOO_LARGE, "tooLarge")
        }
        StoreError::Damaged { .. } => (S::INTERNAL_SERVER_ERROR, "itemDamaged"),
        StoreError::NewerFormat { .. } => (S::INTERNAL_SERVER_ERROR, "newerFormat"),
        StoreError::Encode { .. } => (S::INTERNAL_SERVER_ERROR, "internal"),
        StoreError::Blobs(_) => (S::SERVICE_UNAVAILABLE, "blobsFailed"),
        StoreError::BadCursor => (S::BAD_REQUEST, "badCursor"),
    };
    Facts {
        status,
        code,
        detail: error.to_string(),
    }
}
