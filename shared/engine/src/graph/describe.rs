//! What every activity has, whatever its type: a node's own facts.

use serde_json::Value;

use super::build::Builder;
use super::{Input, NodeIndex, Output};
use crate::activity;
use crate::definition::declaration::Variable;
use crate::definition::fields::Fields;

pub(super) struct NodeFacts {
    pub(super) id: String,
    pub(super) type_name: String,
    pub(super) inputs: Vec<Input>,
    pub(super) plain: Vec<(String, Value)>,
    pub(super) outputs: Vec<Output>,
    pub(super) variables: Vec<Variable>,
}

impl Builder<'_> {
    pub(super) fn describe(&mut self, index: NodeIndex, fields: Fields<'_>, facts: NodeFacts) {
        let modern = self.frames.last().is_some_and(|f| f.modern);
        let custom_fields = fields.object("customProperties");
        let guard = self.guard(custom_fields);
        let flag = |name: &str| {
            custom_fields
                .flag(name)
                .or_else(|| fields.flag(name))
                .unwrap_or(false)
        };
        let Some(node) = self.nodes.get_mut(index.0 as usize) else {
            return;
        };
        node.id = facts.id;
        node.name = fields.text("name");
        node.type_name = facts.type_name;
        node.version = fields
            .integer("version")
            .and_then(|v| u32::try_from(v).ok())
            .unwrap_or(1);
        node.inputs = facts.inputs;
        node.plain = facts.plain;
        node.outputs = facts.outputs;
        node.variables = facts.variables;
        node.can_start_workflow = flag("canStartWorkflow");
        if node.can_start_workflow {
            let path = self.path.clone();
            self.trigger_paths.entry(node.id.clone()).or_insert(path);
        }
        node.run_asynchronously = flag("runAsynchronously");
        node.merge_mode = custom_fields.text("mergeMode");
        node.commit = activity::node_commit(custom_fields.text("commitStrategyName").as_deref());
        node.resilience = custom_fields.get("resilienceStrategy").cloned();
        node.guard = guard;
        node.modern = modern;
        node.custom = custom_fields
            .iter()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
    }
}
