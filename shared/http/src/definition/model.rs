//! A definition and its summary as Elsa's API spells them.

use dormouse_engine::graph::Problem;
use dormouse_runtime::{DefinitionSummary, DefinitionView, content_digest};
use serde_json::{Map, Value, json};

use super::canvas;
use crate::app::App;
use crate::refusal::Refusal;

/// The custom property that says which content an answer is of. It is no part of the definition. Studio keeps custom
/// properties in what it saves, and nothing else that it does not know; so it is known what its user has seen.
const CONTENT: &str = "Dormouse:Content";

/// What a definition can be asked to do. Studio opens one without the link `publish` read-only.
fn links(definition_id: &str, is_readonly: bool) -> Value {
    let link = |rel: &str, method: &str| {
        json!({
            "href": format!("/workflow-definitions/{definition_id}/{rel}"),
            "rel": rel,
            "method": method,
        })
    };
    let mut links = vec![link("self", "GET")];
    if !is_readonly {
        links.push(link("publish", "POST"));
        links.push(link("retract", "POST"));
        links.push(link("delete", "DELETE"));
    }
    links.into()
}

/// Takes out of a model which content it was of when somebody began to edit it, if it says so.
pub(super) fn take_content(model: &mut Value) -> Option<String> {
    let custom = model.get_mut("customProperties")?.as_object_mut()?;
    let content = custom.remove(CONTENT)?;
    content.as_str().map(str::to_owned)
}

/// What a list can be asked to do.
pub(super) fn list_links() -> Value {
    let link = |rel: &str| json!({ "href": format!("/workflow-definitions//{rel}"), "rel": rel, "method": "POST" });
    json!([
        link("bulk-publish"),
        link("bulk-retract"),
        link("bulk-delete")
    ])
}

/// The whole definition: the JSON it was saved with, every property that Elsa always writes, and a root that can be
/// drawn.
pub(crate) async fn definition(app: &App, view: &DefinitionView) -> Result<Value, Refusal> {
    let readonly = view.definition.is_readonly;
    let mut out = Map::new();
    out.insert("links".into(), links(&view.definition_id, readonly));
    out.extend(stored(view));
    for (name, default) in [
        ("name", Value::Null),
        ("description", Value::Null),
        ("toolVersion", Value::Null),
        ("variables", json!([])),
        ("inputs", json!([])),
        ("outputs", json!([])),
        ("outcomes", json!([])),
        ("customProperties", json!({})),
        ("providerName", Value::Null),
        ("materializerName", "Json".into()),
        ("materializerContext", Value::Null),
        ("isReadonly", readonly.into()),
        ("isSystem", view.definition.is_system.into()),
        ("options", json!({})),
    ] {
        if out.get(name).is_none_or(Value::is_null) {
            out.insert(name.into(), default);
        }
    }
    if let Some(Value::Object(custom)) = out.get_mut("customProperties") {
        custom.insert(CONTENT.into(), content_digest(&view.definition).into());
    }
    if let Some(Value::Object(options)) = out.get_mut("options") {
        for (name, default) in [
            ("activationStrategyType", Value::Null),
            ("usableAsActivity", false.into()),
            ("autoUpdateConsumingWorkflows", false.into()),
            ("activityCategory", Value::Null),
            ("incidentStrategyType", Value::Null),
            ("commitStrategyName", Value::Null),
        ] {
            options.entry(name).or_insert(default);
        }
    }
    canvas::complete(app, &view.definition, &mut out).await?;
    Ok(out.into())
}

/// The definition as it goes into a file: what was saved, with its schema in front.
pub(super) fn file(view: &DefinitionView) -> Value {
    let mut out = Map::new();
    out.insert(
        "$schema".into(),
        "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json".into(),
    );
    out.extend(stored(view));
    out.into()
}

/// What was saved, names in Elsa's case, without what belongs to answers and files only.
fn stored(view: &DefinitionView) -> Map<String, Value> {
    let mut out: Map<String, Value> = view
        .definition
        .raw()
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "links" | "$schema"))
        .map(|(name, value)| (camel(name), value.clone()))
        .collect();
    if let Some(Value::Object(custom)) = out.get_mut("customProperties") {
        custom.remove(CONTENT);
    }
    out.insert("createdAt".into(), view.created_at.to_string().into());
    out
}

/// `DefinitionId` as `definitionId`: old files have either.
fn camel(name: &str) -> String {
    let mut chars = name.chars();
    chars
        .next()
        .map(|first| first.to_ascii_lowercase().to_string() + chars.as_str())
        .unwrap_or_default()
}

/// What lists show.
pub(super) fn summary(summary: &DefinitionSummary) -> Value {
    json!({
        "links": links(&summary.definition_id, summary.is_readonly),
        "id": summary.version_id,
        "definitionId": summary.definition_id,
        "name": summary.name,
        "description": summary.description,
        "version": summary.version,
        "toolVersion": summary.tool_version,
        "isLatest": summary.is_latest,
        "isPublished": summary.is_published,
        "isReadonly": summary.is_readonly,
        "providerName": null,
        "materializerName": "Json",
        "isMaterializerAvailable": true,
        "createdAt": summary.created_at.to_string(),
    })
}

/// The answer of a save and a publish.
pub(super) async fn saved(
    app: &App,
    view: &DefinitionView,
    already_published: bool,
    consumers: usize,
    problems: &[Problem],
) -> Result<Value, Refusal> {
    Ok(json!({
        "workflowDefinition": definition(app, view).await?,
        "alreadyPublished": already_published,
        "consumingWorkflowCount": consumers,
        "validationErrors": problems,
    }))
}
