//! The short lists behind Studio's pickers. `lists.json` has Elsa's own, word for word.

use std::sync::LazyLock;

use axum::Json as Answer;
use serde_json::{Value, json};

use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// Elsa's lists by name. The file is part of the program, and a test reads it.
static LISTS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("lists.json")).unwrap_or_default());

fn items(items: &Value) -> Answer<Value> {
    let count = items.as_array().map_or(0, Vec::len);
    Answer(json!({ "items": items, "count": count }))
}

fn list(name: &str) -> Answer<Value> {
    items(LISTS.get(name).unwrap_or(&json!([])))
}

/// `GET /descriptors/variables`
pub(super) async fn variables() -> Answer<Value> {
    list("variables")
}

/// `GET /descriptors/storage-drivers`
pub(super) async fn storage_drivers() -> Answer<Value> {
    list("storageDrivers")
}

/// `GET /descriptors/expression-descriptors`: a tenant that has secrets sees the expression that names one, with the
/// picker of Elsa's module.
pub(super) async fn expressions(Scoped(app): Scoped) -> Result<Answer<Value>, Refusal> {
    let secrets = app.runtime().accounts().secrets();
    let has_some = secrets.are_allowed() && !secrets.list(app.tenant()).await?.is_empty();
    let mut all = LISTS.get("expressions").cloned().unwrap_or_default();
    if has_some && let Value::Array(all) = &mut all {
        all.push(json!({
            "type": "Secret", "displayName": "Secret", "isBrowsable": true, "isSerializable": true,
            "properties": { "UIHint": "secret-picker", "PickerEndpoint": "/secrets/picker" },
        }));
    }
    Ok(items(&all))
}

/// `GET /descriptors/workflow-activation-strategies`
pub(super) async fn activation() -> Answer<Value> {
    list("activation")
}

/// `GET /descriptors/incident-strategies`
pub(super) async fn incidents() -> Answer<Value> {
    list("incidents")
}

/// `GET /descriptors/log-persistence-strategies`
pub(super) async fn log_persistence() -> Answer<Value> {
    list("logPersistence")
}

/// `GET /descriptors/commit-strategies/workflows`. A stock Elsa has none; here there are always these.
pub(super) async fn workflow_commits() -> Answer<Value> {
    let one = |name: &str, shown: &str, description: &str| json!({ "name": name, "displayName": shown, "description": description });
    items(&json!([
        one(
            "WorkflowExecuting",
            "Workflow executing",
            "Commit before the first activity.",
        ),
        one(
            "WorkflowExecuted",
            "Workflow executed",
            "Commit when the burst is over.",
        ),
        one(
            "ActivityExecuting",
            "Activity executing",
            "Commit before each activity.",
        ),
        one(
            "ActivityExecuted",
            "Activity executed",
            "Commit after each activity.",
        ),
    ]))
}

/// `GET /descriptors/commit-strategies/activities`
pub(super) async fn activity_commits() -> Answer<Value> {
    let one = |name: &str, shown: &str, description: &str| json!({ "name": name, "displayName": shown, "description": description });
    items(&json!([
        one("CommitAlways", "Always", "Commit before and after."),
        one("CommitNever", "Never", "Do not commit for this activity."),
        one("Executing", "Executing", "Commit before."),
        one("Executed", "Executed", "Commit after."),
    ]))
}

/// A list with nothing in it.
pub(super) async fn none() -> Answer<Value> {
    items(&json!([]))
}

/// `GET /features/installed`
pub(super) async fn features() -> Answer<Value> {
    list("features")
}

/// `GET /features/installed/{fullName}`
pub(super) async fn feature(Path(name): Path<String>) -> Result<Answer<Value>, Refusal> {
    let all = LISTS.get("features").and_then(Value::as_array);
    let mut all = all.into_iter().flatten();
    let found = all.find(|feature| feature.get("fullName").is_some_and(|full| *full == name));
    found
        .cloned()
        .map(Answer)
        .ok_or(Refusal::NoSuchFeature { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_list_has_what_elsa_has() {
        for (list, size) in [
            (variables().await, 29),
            (storage_drivers().await, 3),
            (list("expressions"), 9),
            (activation().await, 4),
            (incidents().await, 2),
            (log_persistence().await, 4),
            (features().await, 36),
        ] {
            assert_eq!(list.0["count"], size);
        }
    }
}
