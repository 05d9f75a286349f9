//! The last step of building a graph: node ids, and the ways to find nodes and variables.

use std::collections::BTreeMap;

use super::build::Builder;
use super::{Graph, NodeIndex};
use crate::activity;
use crate::definition::Definition;

impl Builder<'_> {
    pub(super) fn finish(mut self, definition: &Definition) -> Graph {
        activity::workflow::name_workflows(&mut self.nodes);
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
