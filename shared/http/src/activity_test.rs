//! Trying one activity, as Studio's Test tab does: with its inputs as they are evaluated now, and without any effect.

use axum::routing::post;
use axum::{Json as Answer, Router};
use dormouse_engine::definition::Definition;
use dormouse_runtime::{DefinitionHandle, VersionOptions};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::body::ElsaJson;
use crate::definition;
use crate::exception;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/tests/activities", post(test))
}

/// Which activity of which definition. Elsa's names.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Test {
    workflow_definition_handle: WorkflowHandle,
    activity_handle: ActivityHandle,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WorkflowHandle {
    definition_id: Option<String>,
    version_options: Option<VersionOptions>,
    definition_version_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ActivityHandle {
    activity_id: Option<String>,
    activity_node_id: Option<String>,
}

/// `POST /tests/activities`. A definition or an activity that there is not is a 400, as in Elsa.
async fn test(
    Scoped(app): Scoped,
    ElsaJson(request): ElsaJson<Test>,
) -> Result<Answer<Value>, Refusal> {
    let workflow = request.workflow_definition_handle;
    let handle = match (workflow.definition_version_id, workflow.definition_id) {
        (Some(id), _) => DefinitionHandle::version(id),
        (None, Some(id)) => DefinitionHandle::Definition {
            id,
            version: workflow.version_options.unwrap_or(VersionOptions::Latest),
        },
        (None, None) => return Err(Refusal::bad_parameter("workflowDefinitionHandle", "")),
    };
    let runtime = app.runtime();
    let found = runtime.query().definition(app.tenant(), &handle).await?;
    let unknown = || Refusal::invalid("generalErrors", "Workflow definition not found.");
    let definition = found.ok_or_else(unknown)?.definition;
    let wanted = request.activity_handle;
    let places = runtime.graphs().places(app.tenant(), &definition).await?;
    let place = places.iter().filter(|place| place.host.is_none());
    let place = place.into_iter().find(|place| {
        Some(&place.node_id) == wanted.activity_node_id.as_ref()
            || Some(&place.id) == wanted.activity_id.as_ref()
    });
    let unknown = || Refusal::bad_parameter("activityHandle", "one that there is not");
    let place = place.ok_or_else(unknown)?;
    let mut raw = definition.raw().clone();
    raw.retain(|name, _| !name.eq_ignore_ascii_case("root"));
    let root = definition::activity_at(&definition, &place.path).ok_or_else(unknown)?;
    raw.insert("root".into(), root);
    let alone = Definition::from_value(raw.into())?;
    let executions = runtime
        .definitions()
        .query()
        .rehearse(app.tenant(), alone)
        .await?;
    // The first one is the workflow itself.
    let Some(own) = executions.into_iter().nth(1) else {
        return Err(unknown());
    };
    Ok(Answer(json!({
        "activityState": own.activity_state,
        "outputs": if own.outputs.is_null() { json!({}) } else { own.outputs },
        "payload": { "Outcomes": own.outcomes },
        "exception": exception::of_test(&own.exception),
        "status": own.status.as_str(),
    })))
}
