//! What is wrong with a definition, all of it at once.

use std::collections::BTreeSet;

use crate::definition::Definition;
use crate::definition::declaration::Argument;
use crate::graph::{Graph, Problem};
use crate::step::Environment;

/// Problems of the declared inputs and outputs.
pub(crate) fn arguments(definition: &Definition, problems: &mut Vec<Problem>) {
    duplicates(&definition.inputs, "inputs", problems);
    duplicates(&definition.outputs, "outputs", problems);
}

fn duplicates(arguments: &[Argument], path: &str, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for (place, argument) in arguments.iter().enumerate() {
        if !seen.insert(argument.name.to_lowercase()) {
            problems.push(Problem {
                path: format!("{path}[{place}]"),
                code: "duplicateName",
                message: format!(
                    "`{}` is declared more than once; give each of the {path} its own name",
                    argument.name
                ),
                is_error: true,
            });
        }
    }
}

/// All problems of a definition, those of its triggers included, in a stable order.
#[must_use]
pub fn validate(graph: &Graph, environment: &Environment<'_>) -> Vec<Problem> {
    let mut problems = graph.problems.clone();
    if let Err(faults) = graph.triggers(environment) {
        for (activity_id, fault) in faults {
            // What is wrong with a literal was told where it stands.
            if graph.errors().any(|p| p.message == fault.message) {
                continue;
            }
            problems.push(Problem {
                path: graph
                    .trigger_path(&activity_id)
                    .map_or_else(|| format!("activity `{activity_id}`"), str::to_owned),
                code: "badTrigger",
                message: fault.message,
                is_error: true,
            });
        }
    }
    problems.sort();
    problems.dedup();
    problems
}
