//! Coverage of a definition by tests: activities, and outcomes that lead somewhere.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_engine::definition::Definition;
use dormouse_engine::definition::fields::Fields;
use dormouse_engine::graph::{Graph, NodeIndex};
use dormouse_engine::journal::Event;
use serde_json::Value;

use crate::host::Kept;

/// Coverage of a definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The definition.
    pub definition_id: String,
    /// Its activities but for containers, in their order.
    pub activities: Vec<ActivityCoverage>,
    /// Outcomes with a connection, in the order of connections.
    pub outcomes: Vec<OutcomeCoverage>,
}

/// Coverage of an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityCoverage {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// How often it began.
    pub runs: u64,
}

/// Coverage of an outcome of an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeCoverage {
    /// The activity's id.
    pub activity: String,
    /// The outcome.
    pub outcome: String,
    /// How often it was the outcome.
    pub runs: u64,
}

/// Counts over all cases.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    runs: BTreeMap<NodeIndex, u64>,
    outcomes: BTreeMap<(String, String), u64>,
}

impl Tally {
    /// Counts what the instances of a definition did.
    pub(crate) fn note(&mut self, instances: &[Kept], definition_id: &str) {
        let mine = |k: &&Kept| k.instance.definition_id == definition_id;
        for kept in instances.iter().filter(mine) {
            for entry in &kept.journal {
                if entry.event == Event::Started {
                    *self.runs.entry(entry.node).or_default() += 1;
                }
                if entry.event == Event::Completed {
                    let id = &kept.graph.node(entry.node).id;
                    let mut count = |outcome: &str| {
                        let key = (id.clone(), outcome.to_owned());
                        *self.outcomes.entry(key).or_default() += 1;
                    };
                    match entry.data.get("outcomes").and_then(Value::as_array) {
                        // The journal leaves out the usual outcome.
                        None => count("Done"),
                        Some(names) => names.iter().filter_map(Value::as_str).for_each(count),
                    }
                }
            }
        }
    }

    pub(crate) fn coverage(&self, definition: &Definition, graph: &Graph) -> Coverage {
        let activities = graph.indexes().filter_map(|index| {
            let node = graph.node(index);
            let is_container = node.activity.is_container() || node.activity.is_workflow();
            (!is_container).then(|| ActivityCoverage {
                id: node.id.clone(),
                name: node.name.clone(),
                runs: self.runs.get(&index).copied().unwrap_or(0),
            })
        });
        let mut found = Vec::new();
        connected(definition.root(), &mut found);
        let mut seen = BTreeSet::new();
        found.retain(|pair| seen.insert(pair.clone()));
        let outcomes = found.into_iter().map(|(activity, outcome)| {
            let key = (activity.clone(), outcome.clone());
            OutcomeCoverage {
                activity,
                outcome,
                runs: self.outcomes.get(&key).copied().unwrap_or(0),
            }
        });
        Coverage {
            definition_id: graph.definition_id.clone(),
            activities: activities.collect(),
            outcomes: outcomes.collect(),
        }
    }
}

/// Activities and outcomes that the connections of flowcharts begin at.
fn connected(value: &Value, found: &mut Vec<(String, String)>) {
    let entries = match value {
        Value::Object(entries) => entries,
        Value::Array(items) => return items.iter().for_each(|item| connected(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
    };
    for connection in Fields::of(value).list("connections") {
        let source = Fields::of(connection).object("source");
        if let Some(activity) = source.text("activity") {
            let port = source.text("port").unwrap_or_else(|| "Done".into());
            found.push((activity, port));
        }
    }
    entries.values().for_each(|inner| connected(inner, found));
}
