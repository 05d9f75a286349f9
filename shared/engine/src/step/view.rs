//! What a script of an activity sees and may change.

use dormouse_expressions::{Identity, Kind, Scope};
use serde_json::Value;

use super::Run;
use crate::definition::convert::convert;
use crate::definition::name::property_name;
use crate::graph::NodeIndex;
use crate::id::ContextId;
use crate::time::Timestamp;

/// What a script of an activity sees.
pub(crate) struct View<'v, 'a> {
    pub(crate) run: &'v mut Run<'a>,
    pub(crate) context: ContextId,
    pub(crate) node: NodeIndex,
    pub(crate) arguments: &'v [(String, Value)],
    pub(crate) outcomes: &'v mut Option<Vec<String>>,
}

impl Scope for View<'_, '_> {
    fn identity(&self) -> Identity {
        let instance = &self.run.instance;
        Identity {
            definition_id: instance.definition_id.clone(),
            definition_version_id: instance.version_id.clone(),
            definition_version: instance.version,
            instance_id: instance.id.as_str().to_owned(),
            correlation_id: instance.correlation_id.clone(),
            name: instance.name.clone(),
        }
    }

    fn set_correlation_id(&mut self, id: Option<String>) {
        self.run.instance.correlation_id = id;
    }

    fn set_name(&mut self, name: Option<String>) {
        self.run.instance.name = name;
    }

    fn variable(&self, name: &str) -> Option<Value> {
        self.run.variable_by_name(self.context, name)
    }

    fn variable_kind(&self, name: &str) -> Kind {
        let found = self.run.chain(self.context).find_map(|(_, context)| {
            if context.locals.iter().any(|(n, _)| n == name) {
                return Some(Kind::Plain);
            }
            let node = self.run.graph.node(context.node);
            let place = node.variables.iter().position(|v| v.name == name)?;
            let kind = node.variables.get(place)?.data_type.kind();
            let is_set = u32::try_from(place).is_ok_and(|p| context.variables.contains_key(&p));
            // Only a default is still the JSON that it was read from.
            let is_read =
                is_set && matches!(kind, Kind::Json | Kind::Dictionary | Kind::ListOfJson);
            Some(if is_read { Kind::Plain } else { kind })
        });
        found.unwrap_or_default()
    }

    fn variable_type(&self, name: &str) -> &'static str {
        let found = self.run.chain(self.context).find_map(|(_, context)| {
            let node = self.run.graph.node(context.node);
            let variable = node.variables.iter().find(|v| v.name == name)?;
            Some(variable.data_type.script_type())
        });
        found.unwrap_or_default()
    }

    fn typed_input(&self, name: &str) -> Option<Result<(Value, Kind, &'static str), String>> {
        if self.run.is_in_composite(self.context) {
            return None;
        }
        let mut inputs = self.run.graph.inputs.iter();
        let declared = inputs.find(|i| i.name.eq_ignore_ascii_case(name))?;
        let value = self.run.input_value(self.context, name)?;
        let wanted = &declared.data_type;
        let converted = convert(value, wanted).map_err(|e| e.to_string());
        Some(converted.map(|value| (value, wanted.kind(), wanted.script_type())))
    }

    fn variable_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (_, context) in self.run.chain(self.context) {
            let declared = self
                .run
                .graph
                .node(context.node)
                .variables
                .iter()
                .map(|v| &v.name);
            for name in context.locals.iter().map(|(n, _)| n).chain(declared) {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        names
    }

    fn set_variable(&mut self, name: &str, value: Value) {
        self.run.set_variable_by_name(self.context, name, value);
    }

    fn input(&self, name: &str) -> Option<Value> {
        self.run.input_value(self.context, name)
    }

    fn input_names(&self) -> Vec<String> {
        let given = self.run.input.keys().chain(self.run.instance.input.keys());
        let mut names: Vec<String> = self
            .run
            .graph
            .inputs
            .iter()
            .map(|i| i.name.clone())
            .collect();
        for name in given {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    fn output_names(&self) -> Vec<(String, String)> {
        let mut names = Vec::new();
        for node in &self.run.graph.nodes {
            let activity = if node.modern {
                node.name.as_ref().unwrap_or(&node.id)
            } else {
                &node.id
            };
            names.extend(
                node.outputs
                    .iter()
                    .map(|o| (activity.clone(), property_name(&o.name))),
            );
        }
        names
    }

    fn output_from(&self, activity: &str, output: Option<&str>) -> Option<Value> {
        self.run
            .output_from(self.context, activity, output.unwrap_or("Result"))
    }

    fn last_result(&self) -> Option<Value> {
        Some(self.run.instance.last_result.clone())
    }

    fn arguments(&self) -> Vec<(String, Value)> {
        self.arguments.to_vec()
    }

    fn has_activity(&self, activity: &str) -> bool {
        self.run.has_activity(activity)
    }

    fn takes_outcomes(&self) -> bool {
        self.run.graph.node(self.node).type_name == "Elsa.RunJavaScript"
    }

    fn set_outcomes(&mut self, outcomes: Vec<String>) {
        *self.outcomes = Some(outcomes);
    }

    fn now_ms(&self) -> i64 {
        self.run.environment.now.0
    }

    fn random(&mut self) -> u64 {
        self.run.draw()
    }

    fn event_trigger_url(&mut self, event: &str, expires_at_ms: Option<i64>) -> Option<String> {
        let links = self.run.environment.event_links?;
        Some(links.url(&self.run.instance.id, event, expires_at_ms.map(Timestamp)))
    }

    fn secret(&self, name: &str) -> Option<Value> {
        self.run.secret(name).map(Value::String)
    }

    fn shows_configuration(&self) -> bool {
        self.run.environment.settings.is_some()
    }

    fn configuration(&self, path: &str) -> Option<Value> {
        self.run.environment.settings?.setting(path)
    }

    fn is_input(&self, name: &str) -> bool {
        self.run.graph.node(self.node).parent.is_some()
            && !self.run.is_in_composite(self.context)
            && self.run.graph.inputs.iter().any(|i| i.name == name)
    }
}
