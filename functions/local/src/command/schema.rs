//! `dormouse schema`

use std::path::PathBuf;

use clap::Args;
use dormouse_engine::activity::{Descriptor, InputDescriptor, built_ins};
use dormouse_engine::definition::Definition;
use dormouse_engine::definition::data_type::DataType;
use dormouse_engine::definition::name::type_name;
use dormouse_engine::definition::search_attribute::ATTRIBUTES_MAX;
use serde_json::{Map, Value, json};

use crate::definition_file;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// The schema to write.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Definition files whose workflows are used as activities, or folders of them
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The file to write; the standard output unless given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the JSON Schema of definitions, for editors.
pub(crate) fn schema(args: &SchemaArgs, screen: &Screen) -> Result<Exit, Failure> {
    let own = match args.files.is_empty() {
        true => Vec::new(),
        false => definition_file::read_all(&args.files)?,
    };
    let own: Vec<&Definition> = own.iter().map(|f| &f.definition).collect();
    let schema = document(&own);
    let Some(file) = &args.output else {
        screen.raw(&schema);
        return Ok(Exit::Ok);
    };
    // A `Value` always has a text.
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    std::fs::write(file, text + "\n").map_err(|e| Failure::file(file, &e))?;
    screen.value(&json!({ "file": file }));
    screen.line(format!("Wrote {}", file.display()));
    Ok(Exit::Ok)
}

/// The schema, with activity types of workflows that can be used as activities.
pub(crate) fn document(own: &[&Definition]) -> Value {
    let mut types: Vec<(String, String, Value)> = Vec::new();
    for (name, one) in built_ins() {
        let description = one.descriptor.description.clone();
        types.push((name.clone(), description, built_in(&one.descriptor)));
    }
    for definition in own.iter().filter(|d| d.options.usable_as_activity) {
        if let Some(name) = definition.name.as_deref() {
            let description = definition.property("description").and_then(Value::as_str);
            let description = description.unwrap_or_default().to_owned();
            types.push((type_name(name), description, workflow(definition)));
        }
    }
    let mut defs = common();
    let mut names = vec![];
    let mut rules = vec![];
    for (name, description, one) in types {
        names.push(json!({ "const": name, "description": description }));
        rules.push(json!({
            "if": { "properties": { "type": { "const": name } }, "required": ["type"] },
            "then": { "$ref": format!("#/$defs/{name}") },
        }));
        defs.insert(name, one);
    }
    // Types of other programs are allowed: the server keeps them, and they fail when they run.
    names.push(json!({ "type": "string" }));
    defs.insert(
        "activity".into(),
        json!({
            "type": "object",
            "required": ["type"],
            "properties": {
                "id": { "type": "string", "description": "Unique within the workflow." },
                "name": { "type": ["string", "null"], "description": "Name for people." },
                "type": { "anyOf": names },
                "version": { "type": "integer" },
                "customProperties": { "$ref": "#/$defs/customProperties" },
                "metadata": { "type": "object" },
            },
            "allOf": rules,
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Workflow definition",
        "type": "object",
        "required": ["root"],
        "properties": {
            "definitionId": { "type": "string", "description": "Id of the definition, the same for all versions." },
            "id": { "type": ["string", "null"], "description": "Id of the version." },
            "name": { "type": ["string", "null"] },
            "description": { "type": ["string", "null"] },
            "version": { "type": "integer", "minimum": 1 },
            "variables": { "type": "array", "items": { "$ref": "#/$defs/variable" } },
            "inputs": { "type": "array", "items": { "$ref": "#/$defs/argument" } },
            "outputs": { "type": "array", "items": { "$ref": "#/$defs/argument" } },
            "options": { "type": ["object", "null"] },
            "customProperties": {
                "type": ["object", "null"],
                "properties": { "searchAttributes": search_attributes() },
            },
            "root": { "$ref": "#/$defs/activity" },
        },
        "$defs": defs,
    })
}

/// Names under which lists find instances.
fn search_attributes() -> Value {
    json!({
        "type": ["array", "null"],
        "description": "Names under which lists find instances by the value of a variable or an input.",
        "maxItems": ATTRIBUTES_MAX,
        "items": {
            "type": "object",
            "required": ["name"],
            "oneOf": [{ "required": ["variable"] }, { "required": ["input"] }],
            "properties": {
                "name": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$" },
                "variable": { "type": "string", "description": "Name or id of a variable of the workflow." },
                "input": { "type": "string", "description": "Name of an input of the workflow." },
            },
        },
    })
}

/// Custom properties of an activity: those for when it fails, and anything else.
fn custom_properties() -> Value {
    let ms = json!({ "type": ["integer", "null"], "minimum": 1 });
    let on = json!({ "enum": ["fault", "cancel"] });
    json!({
        "type": ["object", "null"],
        "properties": {
            "retry": {
                "type": ["object", "null"],
                "description": "Repeats the activity after a pause.",
                "additionalProperties": false,
                "properties": {
                    "maxAttempts": { "type": "integer", "minimum": 1 },
                    "intervalMs": { "type": "integer", "minimum": 0 },
                    "backoff": { "type": "number", "minimum": 1 },
                    "jitter": { "type": "boolean" },
                    "maxIntervalMs": { "type": "integer", "minimum": 0 },
                    "not": { "type": "array", "items": { "type": "string" } },
                },
            },
            "timeout": {
                "description": "Most milliseconds of all attempts, or of each.",
                "anyOf": [ms, {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": { "wholeMs": ms, "attemptMs": ms },
                }],
            },
            "compensate": {
                "description": "Undoes the activity: an activity of the same container by id or name, or one in place.",
                "anyOf": [{ "type": ["string", "null"] }, { "$ref": "#/$defs/activity" }],
            },
            "compensateOn": {
                "description": "When what has completed inside is undone.",
                "anyOf": [on, { "type": ["array", "null"], "items": on }],
            },
        },
    })
}

/// Parts that all definitions share.
fn common() -> Map<String, Value> {
    let expression = json!({
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": { "anyOf": [
                { "enum": ["Literal", "JavaScript", "Liquid", "CSharp", "Variable", "Input", "Object"] },
                { "type": "string" },
            ] },
            "value": {},
        },
    });
    let reference = json!({ "type": "object", "properties": { "id": { "type": "string" } } });
    let variable = json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "id": { "type": "string" },
            "name": { "type": "string" },
            "typeName": { "type": ["string", "null"] },
            "isArray": { "type": "boolean" },
            "value": {},
            "storageDriverTypeName": { "type": ["string", "null"], "description": "Without one the value is gone while the instance waits." },
        },
    });
    let argument = json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": { "type": "string" },
            "type": { "type": "string" },
            "displayName": { "type": ["string", "null"] },
            "description": { "type": ["string", "null"] },
            "isArray": { "type": "boolean" },
        },
    });
    let end = json!({
        "anyOf": [
            { "type": "string" },
            { "type": "object", "required": ["activity"], "properties": {
                "activity": { "type": "string" }, "port": { "type": ["string", "null"] } } },
        ],
    });
    let connection = json!({
        "type": "object",
        "required": ["source", "target"],
        "properties": { "source": end, "target": end },
    });
    Map::from_iter([
        ("expression".to_owned(), expression),
        ("reference".to_owned(), reference),
        ("variable".to_owned(), variable),
        ("argument".to_owned(), argument),
        ("customProperties".to_owned(), custom_properties()),
        ("input".to_owned(), input()),
        ("output".to_owned(), output()),
        ("connection".to_owned(), connection),
    ])
}

/// An input: an expression.
fn input() -> Value {
    json!({
        "type": ["object", "null"],
        "properties": {
            "typeName": { "type": ["string", "null"] },
            "expression": { "$ref": "#/$defs/expression" },
            "memoryReference": { "$ref": "#/$defs/reference" },
        },
    })
}

/// An output: where its value goes.
fn output() -> Value {
    json!({
        "type": ["object", "null"],
        "properties": {
            "typeName": { "type": ["string", "null"] },
            "memoryReference": { "anyOf": [{ "$ref": "#/$defs/reference" }, { "type": "null" }] },
        },
    })
}

fn built_in(descriptor: &Descriptor) -> Value {
    let mut properties = Map::new();
    for input in &descriptor.inputs {
        properties.insert(input.name.clone(), property(input, "#/$defs/input"));
    }
    for plain in &descriptor.plain {
        let description = &plain.description;
        let one = match plain.options.as_slice() {
            [] if plain.data_type == DataType::Boolean => {
                json!({ "description": description, "type": ["boolean", "null"] })
            }
            [] => json!({ "description": description }),
            // Elsa also writes the numbers of enumerations.
            options => json!({
                "description": description,
                "anyOf": [{ "enum": options }, { "type": ["integer", "null"] }],
            }),
        };
        properties.insert(plain.name.clone(), one);
    }
    for output in &descriptor.outputs {
        let one = json!({ "$ref": "#/$defs/output", "description": output.description });
        properties.insert(output.name.clone(), one);
    }
    for port in &descriptor.ports {
        let one = json!({ "anyOf": [{ "$ref": "#/$defs/activity" }, { "type": "null" }] });
        properties.insert((*port).to_owned(), one);
    }
    if descriptor.is_container {
        let activities = json!({ "type": "array", "items": { "$ref": "#/$defs/activity" } });
        properties.insert("activities".into(), activities);
        let variables = json!({ "type": "array", "items": { "$ref": "#/$defs/variable" } });
        properties.insert("variables".into(), variables);
    }
    if descriptor.type_name == "Elsa.Flowchart" {
        let connections = json!({ "type": "array", "items": { "$ref": "#/$defs/connection" } });
        properties.insert("connections".into(), connections);
    }
    json!({ "description": descriptor.description, "properties": properties })
}

fn property(input: &InputDescriptor, reference: &str) -> Value {
    let mut description = format!("{} ({})", input.description, input.type_name);
    if !input.options.is_empty() {
        description.push_str(&format!(": {}", input.options.join(", ")));
    }
    json!({ "$ref": reference, "description": description })
}

fn workflow(definition: &Definition) -> Value {
    let camel = |name: &str| {
        let mut chars = name.chars();
        let first = chars.next().map(|c| c.to_ascii_lowercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    let mut properties = Map::new();
    for (arguments, reference) in [
        (&definition.inputs, "#/$defs/input"),
        (&definition.outputs, "#/$defs/output"),
    ] {
        for argument in arguments {
            properties.insert(camel(&argument.name), json!({ "$ref": reference }));
        }
    }
    json!({ "properties": properties })
}
