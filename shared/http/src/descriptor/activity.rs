//! Activity types as Studio draws them: Elsa's in Elsa's words, and from the engine's descriptors what Elsa does not
//! have. A type of Elsa's that does not run here is listed and not offered.

use std::sync::LazyLock;

use axum::Json as Answer;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use dormouse_engine::activity::{
    ActivityKind, Descriptor, InputDescriptor, OutputDescriptor, built_ins,
};
use dormouse_engine::definition::data_type::DataType;
use dormouse_engine::definition::name::property_name;
use serde_json::{Map, Value, json};

use super::{Composites, OwnTypes, catalogue};
use crate::app::App;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `GET /descriptors/activities`
pub(super) async fn list(Scoped(app): Scoped) -> Result<Response, Refusal> {
    let theirs = theirs(&app).await?;
    let count = FIXED.types.len() + theirs.len();
    let theirs: String = theirs.iter().map(|one| format!(",{one}")).collect();
    let text = format!("{{\"items\":[{}{theirs}],\"count\":{count}}}", FIXED.text);
    let json = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, json)], Body::from(text)).into_response())
}

/// `GET /descriptors/activities/{type}`
pub(super) async fn one(
    Scoped(app): Scoped,
    Path(type_name): Path<String>,
    query: Query,
) -> Result<Answer<Value>, Refusal> {
    let version = query.read::<u64>("version")?;
    let is_it = |one: &Value| {
        one.get("typeName").is_some_and(|name| *name == type_name)
            && version.is_none_or(|wanted| one.get("version").is_some_and(|v| *v == wanted))
    };
    let found = find(&app, is_it).await?;
    found
        .map(Answer)
        .ok_or(Refusal::NoSuchActivityType { name: type_name })
}

/// `POST /descriptors/activities/{type}/options/{property}`: what may be chosen for an input.
pub(super) async fn options(
    Scoped(app): Scoped,
    Path((type_name, property)): Path<(String, String)>,
) -> Result<Answer<Value>, Refusal> {
    let is_it = |one: &Value| one.get("typeName").is_some_and(|name| *name == type_name);
    let one = find(&app, is_it).await?;
    let one = one.ok_or(Refusal::NoSuchActivityType { name: type_name })?;
    let inputs = one.get("inputs").and_then(Value::as_array);
    let is_named = |input: &&Value| {
        let name = input.get("name").and_then(Value::as_str);
        name.is_some_and(|name| name.eq_ignore_ascii_case(&property))
    };
    let found = inputs.into_iter().flatten().find(is_named);
    let found = found.ok_or(Refusal::NoSuchActivityType { name: property })?;
    let items = found.get("uiSpecifications").filter(|s| s.is_object());
    Ok(Answer(
        json!({ "items": items.cloned().unwrap_or(json!({})) }),
    ))
}

/// Types that are the same for every tenant: those of this build, and Elsa's that do not run here.
struct Fixed {
    types: Vec<Value>,
    /// They as JSON, with commas between them.
    text: String,
}

/// They are large, and each page of a designer asks for them.
static FIXED: LazyLock<Fixed> = LazyLock::new(|| {
    let here = built_ins();
    let mut types: Vec<Value> = here.values().map(|b| model(&b.descriptor)).collect();
    let others = catalogue::all().filter(|(name, _)| !here.contains_key(name.as_str()));
    types.extend(others.map(|(_, one)| hidden(one.clone())));
    let texts: Vec<String> = types.iter().map(Value::to_string).collect();
    Fixed {
        types,
        text: texts.join(","),
    }
});

/// Types of the tenant: workflows that can be used as activities, and types that are data.
async fn theirs(app: &App) -> Result<Vec<Value>, Refusal> {
    let mut items = Composites::read(app).await?.descriptors();
    items.extend(OwnTypes::read(app).await?.descriptors());
    Ok(items)
}

/// A type, the last one that fits.
async fn find(app: &App, is_it: impl Fn(&Value) -> bool) -> Result<Option<Value>, Refusal> {
    let theirs = theirs(app).await?;
    let mut all = FIXED.types.iter().chain(&theirs).rev();
    Ok(all.find(|one| is_it(one)).cloned())
}

/// The same, not offered in the toolbox.
fn hidden(mut one: Value) -> Value {
    if let Value::Object(members) = &mut one {
        members.insert("isBrowsable".into(), false.into());
    }
    one
}

/// A type as Elsa's API spells it.
pub(super) fn model(descriptor: &Descriptor) -> Value {
    match catalogue::find(&descriptor.type_name) {
        Some(one) if descriptor.is_hidden => hidden(one.clone()),
        Some(one) => one.clone(),
        None => own(descriptor),
    }
}

/// A type that Elsa does not have.
fn own(descriptor: &Descriptor) -> Value {
    let (namespace, name) = descriptor
        .type_name
        .rsplit_once('.')
        .unwrap_or(("Workflows", &descriptor.type_name));
    let mut inputs: Vec<Value> = Vec::new();
    for one in descriptor.plain.iter().chain(&descriptor.inputs) {
        inputs.push(input(one, inputs.len()));
    }
    let outputs = descriptor.outputs.iter().enumerate();
    json!({
        "typeName": descriptor.type_name,
        "clrType": null,
        "namespace": namespace,
        "name": name,
        "version": descriptor.version,
        "category": descriptor.category,
        "displayName": descriptor.display_name,
        "description": descriptor.description,
        "inputs": inputs,
        "outputs": outputs.map(|(order, one)| output(one, order)).collect::<Vec<_>>(),
        "kind": kind(descriptor.kind),
        "runAsynchronously": descriptor.kind == ActivityKind::Job,
        "ports": ports(descriptor),
        "customProperties": {},
        "constructionProperties": {},
        "isContainer": descriptor.is_container,
        "isBrowsable": !descriptor.is_hidden,
        "isStart": descriptor.type_name == "Elsa.Start",
        "isTerminal": descriptor.is_terminal,
    })
}

fn kind(kind: ActivityKind) -> &'static str {
    match kind {
        ActivityKind::Action => "Action",
        ActivityKind::Trigger => "Trigger",
        ActivityKind::Task => "Task",
        ActivityKind::Job => "Job",
    }
}

/// Children first, then ways out. What ends its container has no way out.
fn ports(descriptor: &Descriptor) -> Vec<Value> {
    let port = |name: &str, kind: &str| json!({ "name": name, "displayName": name, "type": kind, "isBrowsable": true });
    let children = descriptor.ports.iter();
    let mut ports: Vec<Value> = children
        .map(|name| port(&property_name(name), "Embedded"))
        .collect();
    if descriptor.is_terminal {
        return ports;
    }
    if descriptor.outcomes.is_empty() {
        ports.push(port("Done", "Flow"));
    }
    ports.extend(descriptor.outcomes.iter().map(|name| port(name, "Flow")));
    ports
}

fn input(input: &InputDescriptor, order: usize) -> Value {
    let is_structured = matches!(
        input.data_type,
        DataType::List(_)
            | DataType::Map
            | DataType::StringMap
            | DataType::Json
            | DataType::JsonObject
    );
    let specifications = specifications(input);
    json!({
        "name": property_name(&input.name),
        "typeName": input.type_name,
        "displayName": spaced(&input.name),
        "description": input.description,
        "category": null,
        "order": order,
        "uiHint": input.ui_hint,
        "uiSpecifications": specifications,
        "defaultValue": input.default,
        "defaultSyntax": if is_structured { "Object" } else { "Literal" },
        "isWrapped": !input.is_plain,
        "isReadOnly": false,
        "isSensitive": input.is_sensitive,
        "isBrowsable": true,
        "isSerializable": true,
        "isSynthetic": false,
        "autoEvaluate": !input.is_lazy,
        "storageDriverType": null,
    })
}

fn output(output: &OutputDescriptor, order: usize) -> Value {
    json!({
        "name": property_name(&output.name),
        "typeName": output.type_name,
        "displayName": spaced(&output.name),
        "description": output.description,
        "order": order,
        "isBrowsable": true,
        "isSerializable": true,
        "isSynthetic": false,
    })
}

/// What an editor needs to know beside the hint that names it.
fn specifications(input: &InputDescriptor) -> Value {
    let choices = |more: Map<String, Value>| -> Vec<Value> {
        let choice = |option: &&str| {
            let mut choice = more.clone();
            choice.insert("text".into(), (*option).into());
            choice.insert("value".into(), (*option).into());
            Value::Object(choice)
        };
        input.options.iter().map(choice).collect()
    };
    match input.ui_hint {
        "dropdown" => {
            let list = json!({ "items": choices(Map::new()) });
            json!({ "dropdown": { "selectList": list } })
        }
        "checklist" => {
            let unchecked = Map::from_iter([("isChecked".to_owned(), false.into())]);
            let list = json!({ "items": choices(unchecked), "isFlagsEnum": false });
            json!({ "checklist": { "checkList": list } })
        }
        "code-editor" => json!({ "code-editor": { "language": "javascript" } }),
        _ => Value::Null,
    }
}

/// `supportedMethods` as `Supported methods`.
fn spaced(name: &str) -> String {
    let mut out = String::new();
    for c in property_name(name).chars() {
        let is_next_word =
            c.is_uppercase() && out.chars().last().is_some_and(char::is_alphanumeric);
        if is_next_word {
            out.push(' ');
            out.extend(c.to_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_activity_that_runs_can_be_drawn() {
        for (name, built_in) in built_ins() {
            let told = model(&built_in.descriptor);
            for text in ["displayName", "category", "description"] {
                assert_ne!(told[text], "", "{name} has no {text}");
            }
            for input in told["inputs"].as_array().unwrap() {
                let known = [
                    "singleline",
                    "multiline",
                    "checkbox",
                    "checklist",
                    "dropdown",
                    "multitext",
                    "code-editor",
                    "json-editor",
                    "datetime-picker",
                    "dynamic-outcomes",
                    "output-picker",
                    "outcome-picker",
                    "variable-picker",
                    "flow-switch-editor",
                    "switch-editor",
                    "workflow-definition-picker",
                    "http-status-codes",
                ];
                let hint = input["uiHint"].as_str().unwrap();
                assert!(
                    known.contains(&hint),
                    "{name}: Studio has no editor `{hint}`"
                );
                assert_ne!(input["description"], "", "{name}: {input}");
            }
        }
    }

    #[test]
    fn names_are_spaced_for_people() {
        assert_eq!(spaced("supportedMethods"), "Supported methods");
        assert_eq!(spaced("url"), "Url");
    }
}
