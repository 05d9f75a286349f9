//! Activity types as Studio draws them. The engine's own descriptors are the one catalogue: a type that runs is listed.

use axum::Json as Answer;
use dormouse_engine::activity::{
    ActivityKind, Descriptor, InputDescriptor, OutputDescriptor, built_ins,
};
use dormouse_engine::definition::data_type::DataType;
use dormouse_engine::definition::name::property_name;
use serde_json::{Map, Value, json};

use super::{Composites, NOT_FOUND};
use crate::app::App;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `GET /descriptors/activities`
pub(super) async fn list(Scoped(app): Scoped) -> Result<Answer<Value>, Refusal> {
    let items = all(&app).await?;
    let count = items.len();
    Ok(Answer(json!({ "items": items, "count": count })))
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
    let found = all(&app).await?.into_iter().rev().find(is_it);
    found
        .map(Answer)
        .ok_or(Refusal::NoSuchActivityType { name: type_name })
}

/// `POST /descriptors/activities/{type}/options/{property}`: what may be chosen for an input.
pub(super) async fn options(
    Path((type_name, property)): Path<(String, String)>,
) -> Result<Answer<Value>, Refusal> {
    let built_in = built_ins().get(&type_name);
    let descriptor = &built_in
        .ok_or(Refusal::NoSuchActivityType { name: type_name })?
        .descriptor;
    let mut inputs = descriptor.inputs.iter().chain(&descriptor.plain);
    let found = inputs.find(|i| i.name.eq_ignore_ascii_case(&property));
    let items = found.map_or(Value::Null, specifications);
    Ok(Answer(
        json!({ "items": if items.is_null() { json!({}) } else { items } }),
    ))
}

/// Every type: those of this build, the workflows that can be used as activities, and what stands for the unknown.
async fn all(app: &App) -> Result<Vec<Value>, Refusal> {
    let mut items: Vec<Value> = built_ins().values().map(|b| model(&b.descriptor)).collect();
    items.extend([workflow(), not_found()]);
    items.extend(Composites::read(app).await?.descriptors());
    Ok(items)
}

/// The implicit activity around a definition's root.
fn workflow() -> Value {
    let mut descriptor = Descriptor::new("Elsa.Workflow", "Workflows", "A workflow.");
    descriptor.is_hidden = true;
    model(&descriptor)
}

/// What stands for a type nobody knows.
fn not_found() -> Value {
    let mut descriptor = Descriptor::new(
        NOT_FOUND,
        "System",
        "Stands for an activity type that is not known here, and keeps it as it was.",
    )
    .titled("Not Found Activity")
    .plain("missingTypeName", "String", "The type that is not known.")
    .plain("missingTypeVersion", "Int32", "Its version.")
    .plain(
        "originalActivityJson",
        "String",
        "The activity as it was written.",
    );
    descriptor.is_hidden = true;
    model(&descriptor)
}

/// A type as Elsa's API spells it.
pub(super) fn model(descriptor: &Descriptor) -> Value {
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
        DataType::List(_) | DataType::Map | DataType::StringMap | DataType::Json
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
            let list = json!({ "items": choices(Map::new()), "isFlagsEnum": false });
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
            let has_way_out = told["ports"]
                .as_array()
                .unwrap()
                .iter()
                .any(|p| p["type"] == "Flow");
            assert_eq!(has_way_out, told["isTerminal"] == false, "{name}");
        }
    }

    #[test]
    fn names_are_spaced_for_people() {
        assert_eq!(spaced("supportedMethods"), "Supported methods");
        assert_eq!(spaced("url"), "Url");
    }
}
