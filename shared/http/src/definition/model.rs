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
    let base = format!("/workflow-definitions/{definition_id}");
    let link = |rest: &str, rel: &str, method: &str| json!({ "href": format!("{base}{rest}"), "rel": rel, "method": method });
    let by_id = format!("/workflow-definitions/by-definition-id/{definition_id}");
    let mut links = vec![
        link("", "self", "GET"),
        json!({ "href": by_id, "rel": "self", "method": "GET" }),
        link("/versions", "versions", "GET"),
        link("/bulk-dispatch", "bulk-dispatch", "POST"),
        link("/dispatch", "dispatch", "POST"),
        link("/execute", "execute", "POST"),
        link("/export", "export", "POST"),
    ];
    if !is_readonly {
        links.push(link("/publish", "publish", "POST"));
        links.push(link("/retract", "retract", "POST"));
        links.push(link("", "delete", "DELETE"));
        links.push(link("/import", "import", "PUT"));
        links.push(link("/update-references", "update-references", "POST"));
    }
    links.into()
}

/// Takes out of a model which content it was of when somebody began to edit it, if it says so.
pub(super) fn take_content(model: &mut Value) -> Option<String> {
    let custom = model.get_mut("customProperties")?.as_object_mut()?;
    let content = custom.remove(CONTENT)?;
    content.as_str().map(str::to_owned)
}

/// Refuses a model whose members are of a kind that Elsa cannot read.
pub(super) fn check(model: &Value) -> Result<(), Refusal> {
    let wrong = |name: &'static str| {
        let told = format!("The JSON value of `{name}` is not what is expected.");
        Err(Refusal::invalid(name, told))
    };
    for name in ["name", "description", "definitionId"] {
        let given = model.get(name);
        if given.is_some_and(|value| !value.is_string() && !value.is_null()) {
            return wrong(name);
        }
    }
    for name in ["variables", "inputs", "outputs", "outcomes"] {
        // Older files have lists in objects.
        let is_list =
            |value: &Value| value.is_array() || value.is_null() || value.get("$values").is_some();
        if model.get(name).is_some_and(|value| !is_list(value)) {
            return wrong(name);
        }
    }
    let root = model.get("root").and_then(Value::as_object);
    let has_type =
        |root: &Map<String, Value>| root.keys().any(|key| key.eq_ignore_ascii_case("type"));
    if root.is_some_and(|root| !has_type(root)) {
        return wrong("root");
    }
    Ok(())
}

/// Gives a model without a root Elsa's: a sequence with nothing in it.
pub(super) fn give_root(model: &mut Value) {
    if let Value::Object(members) = model {
        let is_root = |name: &String| name.eq_ignore_ascii_case("root");
        let has_root = members
            .iter()
            .any(|(name, value)| is_root(name) && !value.is_null());
        if !has_root {
            members.retain(|name, _| !is_root(name));
            let root = json!({ "id": "Sequence1", "type": "Elsa.Sequence", "version": 1, "activities": [] });
            members.insert("root".into(), root);
        }
    }
}

/// What a list can be asked to do.
pub(super) fn list_links() -> Value {
    const DEFINITIONS: &str = "/workflow-definitions";
    const BULK: &str = "/bulk-actions";
    let link = |base: &str, rest: &str, rel: &str, method: &str| json!({ "href": format!("{base}{rest}"), "rel": rel, "method": method });
    let delete = "/delete/workflow-definitions";
    json!([
        link(DEFINITIONS, "", "self", "GET"),
        link(
            DEFINITIONS,
            "/validation/is-name-unique",
            "is-name-unique",
            "GET"
        ),
        link(DEFINITIONS, "/query/count", "count", "GET"),
        link(DEFINITIONS, "/many-by-id", "many-by-id", "GET"),
        link(
            BULK,
            &format!("{delete}/by-definition-id"),
            "bulk-delete-by-definition-id",
            "POST"
        ),
        link(
            BULK,
            &format!("{delete}/by-id"),
            "bulk-delete-by-id",
            "POST"
        ),
        link(
            BULK,
            "/publish/workflow-definitions/by-definition-ids",
            "bulk-publish",
            "POST"
        ),
        link(
            BULK,
            "/retract/workflow-definitions/by-definition-ids",
            "bulk-retract",
            "POST"
        ),
        link(DEFINITIONS, "/import", "import", "POST"),
        link(DEFINITIONS, "/import-files", "import-files", "POST"),
        link(DEFINITIONS, "", "create", "POST"),
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
    spell(&mut out);
    canvas::complete(app, &view.definition, &mut out).await?;
    Ok(out.into())
}

/// Writes options and variables as Elsa does: what is not set too, and names of its own classes in short.
fn spell(out: &mut Map<String, Value>) {
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
        if let Some(strategy) = options.get_mut("incidentStrategyType") {
            shorten(strategy);
        }
    }
    let variables = out.get_mut("variables").and_then(Value::as_array_mut);
    for variable in variables.into_iter().flatten() {
        if let Some(driver) = variable.get_mut("storageDriverTypeName") {
            shorten(driver);
        }
        let is_flag = variable.get("typeName").is_some_and(|t| t == "Boolean");
        if is_flag && let Some(value) = variable.get_mut("value") {
            match value.as_str() {
                Some("true") => *value = "True".into(),
                Some("false") => *value = "False".into(),
                Some(_) | None => {}
            }
        }
    }
}

/// `Elsa.Workflows.X, Elsa.Workflows.Core` as `X`.
fn shorten(name: &mut Value) {
    let short = name
        .as_str()
        .and_then(|text| text.strip_suffix(", Elsa.Workflows.Core"))
        .and_then(|class| class.rsplit('.').next())
        .map(str::to_owned);
    if let Some(short) = short {
        *name = short.into();
    }
}

/// What a revert answers: Elsa's summary of the new draft.
pub(super) fn reverted(view: &DefinitionView) -> Value {
    let definition = &view.definition;
    json!({
        "id": view.version_id,
        "definitionId": view.definition_id,
        "name": definition.name,
        "description": definition.description,
        "version": view.version,
        "toolVersion": definition.property("toolVersion"),
        "isLatest": view.is_latest,
        "isPublished": view.is_published,
        "isReadonly": definition.is_readonly,
        "materializerName": "Json",
        "createdAt": view.created_at.to_string(),
    })
}

/// The definition as it goes into a file: what was saved, with its schema in front.
pub(super) fn file(view: &DefinitionView) -> Value {
    let mut out = Map::new();
    out.insert(
        "$schema".into(),
        "https://elsaworkflows.io/schemas/workflow-definition/v3.0.0/schema.json".into(),
    );
    out.extend(stored(view));
    for (name, value) in [
        ("isReadonly", view.definition.is_readonly),
        ("isSystem", view.definition.is_system),
    ] {
        out.entry(name).or_insert(value.into());
    }
    out.entry("options").or_insert_with(|| json!({}));
    spell(&mut out);
    if let Some(root) = out.get_mut("root") {
        canvas::spell(root);
        canvas::name_places(root, "Workflow1");
    }
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
        "description": summary.description.as_deref().unwrap_or_default(),
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
