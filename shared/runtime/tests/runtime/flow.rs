//! Small definitions for the tests.

use dormouse_engine::definition::Definition;
use serde_json::{Value, json};

/// An input with a literal value.
pub(crate) fn literal(type_name: &str, value: impl Into<Value>) -> Value {
    json!({ "typeName": type_name, "expression": { "type": "Literal", "value": value.into() } })
}

/// Writes a text, which is also the activity's id.
pub(crate) fn write(text: &str) -> Value {
    json!({ "type": "Elsa.WriteLine", "id": text, "text": literal("String", text) })
}

pub(crate) fn event(name: &str) -> Value {
    json!({ "type": "Elsa.Event", "eventName": literal("String", name) })
}

/// An event that starts the workflow.
pub(crate) fn event_trigger(name: &str) -> Value {
    json!({
        "type": "Elsa.Event", "id": "trigger", "eventName": literal("String", name),
        "customProperties": { "canStartWorkflow": true },
    })
}

pub(crate) fn publish(name: &str) -> Value {
    json!({ "type": "Elsa.PublishEvent", "eventName": literal("String", name), "payload": literal("Object", "hello") })
}

/// An HTTP request.
pub(crate) fn call() -> Value {
    json!({ "type": "Elsa.SendHttpRequest", "url": literal("Uri", "http://example.test/") })
}

pub(crate) fn delay(span: &str) -> Value {
    json!({ "type": "Elsa.Delay", "timeSpan": literal("TimeSpan", span) })
}

pub(crate) fn cron(expression: &str, overlap: &str) -> Value {
    json!({
        "type": "Elsa.Cron", "id": "cron", "cronExpression": literal("String", expression),
        "customProperties": { "canStartWorkflow": true, "overlapPolicy": overlap },
    })
}

pub(crate) fn task(name: &str) -> Value {
    json!({ "type": "Elsa.RunTask", "taskName": literal("String", name) })
}

/// A definition whose id is its name and whose root is a sequence of activities.
pub(crate) fn sequence(name: &str, activities: &[Value]) -> Definition {
    with_options(name, activities, json!({}))
}

pub(crate) fn with_options(name: &str, activities: &[Value], options: Value) -> Definition {
    let json = json!({
        "definitionId": name, "name": name, "toolVersion": "3.6.0.0", "options": options,
        "root": { "type": "Elsa.Sequence", "id": "root", "activities": activities },
    });
    Definition::from_value(json).unwrap()
}

/// Branches beside each other.
pub(crate) fn parallel(branches: &[Value]) -> Value {
    json!({ "type": "Elsa.Parallel", "id": "parallel", "activities": branches })
}

/// Activities one after the other.
pub(crate) fn steps(id: &str, activities: &[Value]) -> Value {
    json!({ "type": "Elsa.Sequence", "id": id, "activities": activities })
}
