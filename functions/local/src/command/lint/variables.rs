//! Variables and inputs that nothing uses.

use std::collections::BTreeSet;

use dormouse_engine::definition::fields::Fields;
use serde_json::Value;

use super::activities::Activity;
use super::{Finding, Level};

/// Names that a definition uses.
#[derive(Debug, Default)]
struct Uses {
    /// Ids and names of references.
    exact: BTreeSet<String>,
    /// Scripts and templates, in lower case.
    scripts: Vec<String>,
}

impl Uses {
    fn has(&self, id: &str, name: &str) -> bool {
        let lower = name.to_lowercase();
        let is_referenced = [id, name].iter().any(|one| self.exact.contains(*one));
        is_referenced || !name.is_empty() && self.scripts.iter().any(|s| s.contains(&lower))
    }

    fn walk(&mut self, value: &Value) {
        match value {
            Value::Object(entries) => {
                for (name, inner) in entries {
                    match name.to_ascii_lowercase().as_str() {
                        "expression" => self.expression(inner),
                        "memoryreference" | "variable" => self.reference(inner),
                        "metadata" => {}
                        _ => self.walk(inner),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn expression(&mut self, expression: &Value) {
        let fields = Fields::of(expression);
        let kind = fields.text("type").unwrap_or_default();
        match fields.get("value") {
            Some(Value::String(text)) if matches!(kind.as_str(), "Variable" | "Input") => {
                self.exact.insert(text.clone());
            }
            Some(Value::String(text)) => self.scripts.push(text.to_lowercase()),
            Some(other) => {
                self.reference(other);
                // Expressions within literals: the cases of a switch, headers.
                self.walk(other);
            }
            None => {}
        }
    }

    fn reference(&mut self, value: &Value) {
        let fields = Fields::of(value);
        let names = ["id", "name"].iter().filter_map(|name| fields.text(name));
        self.exact.extend(names);
        self.exact.extend(value.as_str().map(str::to_owned));
    }
}

/// Variables of the workflow and its containers, and inputs of the workflow, that nothing uses.
pub(super) fn unused(definition: &Value, activities: &[Activity<'_>]) -> Vec<Finding> {
    let mut uses = Uses::default();
    uses.walk(Fields::of(definition).get("root").unwrap_or(&Value::Null));
    uses.walk(
        Fields::of(definition)
            .get("outputs")
            .unwrap_or(&Value::Null),
    );
    let mut findings = Vec::new();
    let owners = activities
        .iter()
        .map(|one| (format!("{}.", one.path), one.value));
    for (prefix, owner) in std::iter::once((String::new(), definition)).chain(owners) {
        let variables = Fields::of(owner).list("variables");
        for (place, variable) in variables.into_iter().enumerate() {
            let fields = Fields::of(variable);
            let name = fields.text("name").unwrap_or_default();
            if !uses.has(&fields.text("id").unwrap_or_default(), &name) {
                let path = format!("{prefix}variables[{place}]");
                let message = format!("the variable `{name}` is never used");
                findings.push(Finding::new(
                    Level::Warning,
                    "unusedVariable",
                    &path,
                    message,
                ));
            }
        }
    }
    let inputs = Fields::of(definition).list("inputs");
    for (place, input) in inputs.into_iter().enumerate() {
        let name = Fields::of(input).text("name").unwrap_or_default();
        if !uses.has(&name, &name) {
            let path = format!("inputs[{place}]");
            let message = format!("the input `{name}` is never used");
            findings.push(Finding::new(Level::Warning, "unusedInput", &path, message));
        }
    }
    findings
}
