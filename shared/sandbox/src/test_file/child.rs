//! Mocked children: workflows that take some time and end with outputs or a failure.

use dormouse_engine::definition::Definition;
use dormouse_engine::time::format_duration;
use serde_json::{Value, json};

use super::{find, known, mocks, text};
use crate::document::{Document, FileError};

/// Reads the mock of a workflow as a definition that does what the mock says.
pub(super) fn read(definition_id: &str, document: &Document) -> Result<Definition, FileError> {
    let entries = document.entries("mocks")?;
    known(
        entries,
        "a mock of a workflow",
        &["after", "output", "fails"],
    )?;
    let mut activities = Vec::new();
    if let Some(after) = find(entries, "after") {
        let time = format_duration(mocks::span(after, "after")?);
        activities.push(json!({ "id": "wait", "type": "Elsa.Delay", "timeSpan": literal(&time) }));
    }
    let output = find(entries, "output").map(|o| o.object("output"));
    let output = output.transpose()?.unwrap_or_default();
    for (place, (name, value)) in output.iter().enumerate() {
        activities.push(json!({
            "id": format!("output{place}"),
            "type": "Elsa.SetOutput",
            "outputName": literal(name),
            // JSON is JavaScript.
            "outputValue": expression("JavaScript", &format!("({value})")),
        }));
    }
    if let Some(message) = text(entries, "fails")? {
        let failure = json!({ "id": "fail", "type": "Elsa.Fault", "message": literal(&message) });
        activities.push(failure);
    }
    let outputs = output
        .keys()
        .map(|name| json!({ "name": name, "type": "Object" }));
    let definition = json!({
        "definitionId": definition_id,
        "name": definition_id,
        "version": 1,
        "outputs": outputs.collect::<Vec<_>>(),
        "root": { "id": "mock", "type": "Elsa.Sequence", "activities": activities },
    });
    let mut definition = Definition::from_value(definition)
        .map_err(|e| FileError::new(document.line, e.to_string()))?;
    definition.mark(true, true);
    Ok(definition)
}

fn literal(text: &str) -> Value {
    expression("Literal", text)
}

fn expression(kind: &str, text: &str) -> Value {
    json!({ "typeName": "Object", "expression": { "type": kind, "value": text } })
}
