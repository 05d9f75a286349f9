//! Names in definitions: events, tasks, and the other definitions that they start or use.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::definition_file::DefinitionFile;
use crate::exit::Exit;
use crate::failure::Failure;

/// Names that definitions write down. Those that an expression computes are not among them.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Of events and tasks.
    answered: BTreeSet<String>,
    /// Of the definitions that were given.
    given: BTreeSet<String>,
    /// Of definitions that are started.
    started: BTreeSet<String>,
}

impl Names {
    /// Names in the files.
    pub(super) fn of(files: &[DefinitionFile]) -> Self {
        let mut names = Self::default();
        for file in files {
            let id = file.definition.definition_id.clone();
            names.given.extend(id);
            for value in file.definition.raw().values() {
                names.collect(value);
            }
        }
        names
    }

    /// Rejects answers to events and tasks that do not exist. `asked`: names that a run asked for.
    pub(super) fn check(&self, given: &[String], asked: &BTreeSet<String>) -> Result<(), Failure> {
        let known: BTreeSet<&String> = self.answered.union(asked).collect();
        let is_unknown = |name: &&String| !known.contains(name) && name.as_str() != "*";
        let Some(unknown) = given.iter().find(is_unknown) else {
            return Ok(());
        };
        let message = format!("--answer {unknown}: no event or task has this name");
        let list: Vec<&str> = known.into_iter().map(String::as_str).collect();
        let help = match list.as_slice() {
            [] => "the workflow waits for no event and no task: leave --answer out".to_owned(),
            list => format!("the names are: {}", list.join(", ")),
        };
        Err(Failure::new(Exit::BadInput, "unknownAnswer", message).help(help))
    }

    /// Definitions that are started, and were not given.
    pub(super) fn missing(&self) -> Vec<String> {
        self.started.difference(&self.given).cloned().collect()
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Object(fields) => {
                let literal = |name: &str| {
                    let input = fields.get(name)?.get("expression")?;
                    let is_literal = input.get("type")?.as_str()? == "Literal";
                    let text = input.get("value")?.as_str()?.to_owned();
                    (is_literal && !text.is_empty()).then_some(text)
                };
                match fields.get("type").and_then(Value::as_str) {
                    Some("Elsa.Event") => self.answered.extend(literal("eventName")),
                    Some("Elsa.RunTask") => self.answered.extend(literal("taskName")),
                    Some(
                        "Elsa.DispatchWorkflow"
                        | "Elsa.ExecuteWorkflow"
                        | "Elsa.BulkDispatchWorkflows",
                    ) => self.started.extend(literal("workflowDefinitionId")),
                    Some(_) | None => {}
                }
                fields.values().for_each(|field| self.collect(field));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
