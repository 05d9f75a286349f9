//! Variables, inputs and outputs as they are seen from an activity.

use dormouse_expressions::Kind;
use serde_json::Value;

use super::Run;
use crate::definition::convert::convert;
use crate::definition::data_type::DataType;
use crate::graph::NodeIndex;
use crate::id::{ContextId, splitmix};
use crate::instance::Context;

impl Run<'_> {
    /// The executions from `from` outwards.
    pub(super) fn chain(&self, from: ContextId) -> impl Iterator<Item = (ContextId, &Context)> {
        let mut at = Some(from);
        std::iter::from_fn(move || {
            let id = at?;
            let context = self.instance.context(id)?;
            at = context.owner;
            Some((id, context))
        })
    }

    /// The value of a variable by name.
    pub(crate) fn variable_by_name(&self, from: ContextId, name: &str) -> Option<Value> {
        self.chain(from).find_map(|(_, context)| {
            if let Some((_, value)) = context.locals.iter().find(|(n, _)| n == name) {
                return Some(value.clone());
            }
            let node = self.graph.node(context.node);
            let place = node.variables.iter().position(|v| v.name == name)?;
            Some(declared(context, node, place))
        })
    }

    /// The value of a variable by id.
    pub(crate) fn variable_by_id(
        &self,
        from: ContextId,
        node: NodeIndex,
        id: &str,
    ) -> Option<Value> {
        let (owner, place) = self.graph.variable(id, node)?;
        let (_, context) = self.chain(from).find(|(_, c)| c.node == owner)?;
        Some(declared(context, self.graph.node(owner), place))
    }

    /// Sets a variable by id, as it is given. `false`: there is none in scope.
    pub(crate) fn set_variable_by_id(
        &mut self,
        from: ContextId,
        node: NodeIndex,
        id: &str,
        value: Value,
    ) -> bool {
        let Some((owner, place)) = self.graph.variable(id, node) else {
            return false;
        };
        let Some(at) = self
            .chain(from)
            .find(|(_, c)| c.node == owner)
            .map(|(id, _)| id)
        else {
            return false;
        };
        self.store(at, place, value);
        true
    }

    /// The type of the variable with the id. `None`: there is none in scope.
    pub(crate) fn type_of_variable(&self, id: &str, node: NodeIndex) -> Option<&DataType> {
        let (owner, place) = self.graph.variable(id, node)?;
        let variable = self.graph.node(owner).variables.get(place)?;
        Some(&variable.data_type)
    }

    /// How the variable with the id looks to scripts.
    pub(crate) fn kind_of_variable(&self, id: &str, node: NodeIndex) -> Kind {
        self.type_of_variable(id, node)
            .map_or(Kind::Plain, DataType::kind)
    }

    /// How the workflow's input of that name looks to scripts.
    pub(crate) fn kind_of_input(&self, name: &str) -> Kind {
        let mut inputs = self.graph.inputs.iter();
        let declared = inputs.find(|i| i.name.eq_ignore_ascii_case(name));
        declared.map_or(Kind::Plain, |i| i.data_type.kind())
    }

    /// Sets a variable by name, or makes a dynamic one on the nearest container.
    pub(crate) fn set_variable_by_name(&mut self, from: ContextId, name: &str, value: Value) {
        enum Found {
            Local(ContextId),
            Declared(ContextId, usize),
        }
        let found = self.chain(from).find_map(|(id, context)| {
            if context.locals.iter().any(|(n, _)| n == name) {
                return Some(Found::Local(id));
            }
            let place = self
                .graph
                .node(context.node)
                .variables
                .iter()
                .position(|v| v.name == name)?;
            Some(Found::Declared(id, place))
        });
        match found {
            Some(Found::Declared(id, place)) => {
                let variable = self.instance.context(id).map(|c| c.node);
                let variable = variable.and_then(|n| self.graph.node(n).variables.get(place));
                let value = match variable {
                    Some(v) => convert(value.clone(), &v.data_type).unwrap_or(value),
                    None => value,
                };
                self.store(id, place, value);
            }
            Some(Found::Local(id)) => self.set_local(id, name, value),
            None => {
                let container = self
                    .chain(from)
                    .find(|(_, c)| self.graph.node(c.node).activity.is_container())
                    .map(|(id, _)| id);
                self.set_local(container.unwrap_or(from), name, value);
            }
        }
    }

    fn set_local(&mut self, id: ContextId, name: &str, value: Value) {
        let Some(context) = self.instance.context_mut(id) else {
            return;
        };
        match context.locals.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value,
            None => context.locals.push((name.to_owned(), value)),
        }
    }

    fn store(&mut self, at: ContextId, place: usize, value: Value) {
        if let (Some(context), Ok(place)) = (self.instance.context_mut(at), u32::try_from(place)) {
            context.variables.insert(place, value);
        }
    }

    /// An input by name: inside a workflow used as an activity a variable of that name comes first.
    pub(crate) fn input_value(&self, from: ContextId, name: &str) -> Option<Value> {
        if self.is_in_composite(from)
            && let Some(value) = self.variable_by_name(from, name)
        {
            return Some(value);
        }
        let by_name = |map: &serde_json::Map<String, Value>| {
            map.get(name)
                .or_else(|| {
                    map.iter()
                        .find(|(k, _)| k.eq_ignore_ascii_case(name))
                        .map(|(_, v)| v)
                })
                .cloned()
        };
        // As in Elsa, the default of an input is for editors: one that is not given is nothing.
        by_name(&self.input).or_else(|| by_name(&self.instance.input))
    }

    pub(super) fn is_in_composite(&self, from: ContextId) -> bool {
        self.chain(from).any(|(_, c)| {
            let node = self.graph.node(c.node);
            node.parent.is_some() && node.activity.is_workflow()
        })
    }

    /// Records an output of an execution, and passes it on to where it is bound.
    pub(crate) fn record_output(&mut self, context: ContextId, name: &str, value: Value) {
        self.record_output_as(context, name, value, None);
    }

    /// Records an output, and gives it on to nothing. Gives the activity and the value as it is recorded.
    pub(crate) fn record_alone(
        &mut self,
        context: ContextId,
        name: &str,
        value: Value,
    ) -> Option<(NodeIndex, Value)> {
        let found = self.instance.contexts.get(&context);
        let (node_index, owner) = found.map(|c| (c.node, c.owner))?;
        let outputs = &self.graph.node(node_index).outputs;
        let output = outputs.iter().find(|o| o.name.eq_ignore_ascii_case(name));
        let value = match output {
            Some(o) => convert(value.clone(), &o.data_type).unwrap_or(value),
            None => value,
        };
        if name.eq_ignore_ascii_case("result") {
            self.instance.last_result = value.clone();
        }
        // Its own copy is for the journal, and goes when it ends; the owner's is what others read.
        for keeper in std::iter::once(context).chain(owner) {
            if let Some(keeper) = self.instance.context_mut(keeper) {
                keeper.record(node_index, output.map_or(name, |o| &o.name), &value);
            }
        }
        Some((node_index, value))
    }

    /// The same with another value for where it is bound.
    pub(crate) fn record_output_as(
        &mut self,
        context: ContextId,
        name: &str,
        value: Value,
        bound: Option<Value>,
    ) {
        let Some((node_index, value)) = self.record_alone(context, name, value) else {
            return;
        };
        let outputs = &self.graph.node(node_index).outputs;
        let output = outputs.iter().find(|o| o.name.eq_ignore_ascii_case(name));
        let value = bound.unwrap_or(value);
        match output.and_then(|o| o.target.as_ref()) {
            Some(crate::graph::Target::Variable(id)) => {
                self.set_variable_by_id(context, node_index, id, value);
            }
            Some(crate::graph::Target::Output(workflow_output)) => {
                self.set_workflow_output(context, workflow_output, value);
            }
            None => {}
        }
    }

    /// Sets an output of the nearest workflow around `from` that declares it: of the activity that uses it, or of the instance.
    pub(crate) fn set_workflow_output(&mut self, from: ContextId, name: &str, value: Value) {
        let composite = self.chain(from).skip(1).find(|(_, c)| {
            let node = self.graph.node(c.node);
            node.activity.is_composite()
                && node
                    .outputs
                    .iter()
                    .any(|o| o.name.eq_ignore_ascii_case(name))
        });
        match composite.map(|(id, _)| id) {
            Some(id) => self.record_output(id, name, value),
            None => {
                // `Result` is an output of the activity that a workflow is, too.
                if name == "Result" {
                    let root = self.chain(from).last().map(|(id, c)| (id, c.node));
                    let root =
                        root.and_then(|(id, node)| Some((self.instance.context_mut(id)?, node)));
                    if let Some((context, node)) = root {
                        context.record(node, "Result", &value);
                    }
                }
                self.instance.output.insert(name.to_owned(), value);
            }
        }
    }

    /// The recorded output of an activity, by its id or name, as seen from `from`.
    pub(crate) fn output_from(
        &self,
        from: ContextId,
        activity: &str,
        output: &str,
    ) -> Option<Value> {
        let is_it = |node: NodeIndex| {
            let node = self.graph.node(node);
            node.id == activity || node.name.as_deref() == Some(activity)
        };
        self.chain(from).find_map(|(_, context)| {
            let found = context
                .outputs
                .iter()
                .find(|r| r.output.eq_ignore_ascii_case(output) && is_it(r.node))?;
            Some(found.value.clone())
        })
    }

    /// Whether there is an activity of that id or name.
    pub(crate) fn has_activity(&self, activity: &str) -> bool {
        let mut nodes = self.graph.nodes.iter();
        nodes.any(|node| node.id == activity || node.name.as_deref() == Some(activity))
    }

    /// The next number of the instance's own sequence.
    pub(crate) fn draw(&mut self) -> u64 {
        self.instance.drawn += 1;
        splitmix(self.instance.seed ^ self.instance.drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

fn declared(context: &Context, node: &crate::graph::Node, place: usize) -> Value {
    let set = u32::try_from(place)
        .ok()
        .and_then(|p| context.variables.get(&p));
    set.or_else(|| node.variables.get(place).map(|v| &v.default))
        .cloned()
        .unwrap_or(Value::Null)
}
