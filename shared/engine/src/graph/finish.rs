//! The last step of building a graph: node ids, and the ways to find nodes and variables.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::build::Builder;
use super::{Graph, NodeIndex};
use crate::activity;
use crate::definition::Definition;
use crate::definition::search_attribute::search_attributes;

impl Builder<'_> {
    pub(super) fn finish(mut self, definition: &Definition) -> Graph {
        activity::workflow::name_workflows(&mut self.nodes);
        self.resolve_undos();
        for index in 0..self.nodes.len() {
            let parent_id = self
                .nodes
                .get(index)
                .and_then(|n| n.parent)
                .and_then(|p| self.nodes.get(p.0 as usize))
                .map(|p| p.node_id.clone());
            if let Some(node) = self.nodes.get_mut(index) {
                node.node_id =
                    parent_id.map_or_else(|| node.id.clone(), |p| format!("{p}:{}", node.id));
            }
        }
        for node in &mut self.nodes {
            let cases = node.plain.iter_mut().find(|(name, _)| name == "cases");
            for case in cases
                .into_iter()
                .flat_map(|(_, v)| v.as_array_mut())
                .flatten()
            {
                if let Some(activity) = case.get_mut("activity") {
                    spell_out(activity, &node.node_id);
                }
            }
        }
        let mut by_node_id = BTreeMap::new();
        let mut by_activity_id = BTreeMap::new();
        let mut declared = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let index = NodeIndex(u32::try_from(index).unwrap_or(u32::MAX));
            by_node_id.entry(node.node_id.clone()).or_insert(index);
            by_activity_id.entry(node.id.clone()).or_insert(index);
            for (place, variable) in node.variables.iter().enumerate() {
                declared
                    .entry(variable.id.clone())
                    .or_insert((index, place));
            }
        }
        crate::validate::arguments(definition, &mut self.problems);
        let search_attributes = search_attributes(definition, &mut self.problems);
        Graph {
            definition_id: definition.definition_id.clone().unwrap_or_default(),
            version_id: definition.version_id.clone().unwrap_or_default(),
            version: definition.version,
            name: definition.name.clone(),
            nodes: self.nodes,
            inputs: definition.inputs.clone(),
            outputs: definition.outputs.clone(),
            incident_strategy: definition.options.incident_strategy,
            commit_strategy: definition.options.commit_strategy,
            passes_tokens: definition
                .raw()
                .get("customProperties")
                .and_then(|properties| properties.get(activity::flowchart::MODE))
                .and_then(activity::flowchart::passes_tokens),
            search_attributes,
            problems: self.problems,
            bindings: self.bindings,
            missing: self.missing,
            by_node_id,
            by_activity_id,
            trigger_paths: self.trigger_paths,
            variables: declared,
        }
    }
}

/// Adds to an activity in a plain property what Elsa writes of every activity, so that readers of the journal see it.
fn spell_out(activity: &mut Value, parent: &str) {
    let Value::Object(members) = activity else {
        return;
    };
    let id = members
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let node_id = format!("{parent}:{id}");
    let custom = members
        .entry("customProperties")
        .or_insert_with(|| json!({}));
    if let Value::Object(custom) = custom {
        for name in ["canStartWorkflow", "runAsynchronously"] {
            custom.entry(name).or_insert(Value::Bool(false));
        }
    }
    members.entry("metadata").or_insert_with(|| json!({}));
    for inner in ["activities", "body", "then", "else"] {
        match members.get_mut(inner) {
            Some(Value::Array(activities)) => {
                activities.iter_mut().for_each(|a| spell_out(a, &node_id));
            }
            Some(activity) => spell_out(activity, &node_id),
            None => {}
        }
    }
    members.insert("nodeId".into(), node_id.into());
}
