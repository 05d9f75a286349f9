//! A workflow used as an activity. Its own activities are inlined below the node and run in the same instance.

use std::sync::Arc;

use super::{Activity, Descriptor, InputDescriptor, OutputDescriptor};
use crate::definition::Definition;
use crate::definition::name::type_name;
use crate::graph::{Builder, NodeIndex};
use crate::instance::Local;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct Composite {
    workflow: Option<NodeIndex>,
    /// (the input's name in JSON, the variable it becomes inside)
    inputs: Vec<(String, String)>,
}

/// What a workflow looks like as an activity type.
#[must_use]
pub fn descriptor(definition: &Definition) -> Descriptor {
    let name = definition.name.clone().unwrap_or_default();
    let category = definition
        .options
        .activity_category
        .clone()
        .unwrap_or_else(|| "Workflows".into());
    let description = definition.description.clone().unwrap_or_default();
    let mut descriptor = Descriptor::new(&type_name(&name), &category, &description);
    descriptor.display_name = name;
    descriptor.version = definition.version;
    descriptor.outcomes = definition.outcomes.clone();
    descriptor.inputs = definition
        .inputs
        .iter()
        .map(|argument| InputDescriptor {
            name: crate::graph::argument_property(argument),
            data_type: argument.data_type.clone(),
            type_name: format!("{:?}", argument.data_type),
            default: argument.default.clone(),
            description: String::new(),
            ui_hint: "single-line",
            options: Vec::new(),
            is_lazy: false,
            is_sensitive: false,
            is_plain: false,
        })
        .collect();
    descriptor.outputs = definition
        .outputs
        .iter()
        .map(|argument| OutputDescriptor {
            name: crate::graph::argument_property(argument),
            data_type: argument.data_type.clone(),
            type_name: format!("{:?}", argument.data_type),
            description: String::new(),
        })
        .collect();
    descriptor
}

/// Inlines the workflow below the node being built.
pub(crate) fn build(builder: &mut Builder<'_>, definition: &Arc<Definition>) -> Box<dyn Activity> {
    let inputs = definition
        .inputs
        .iter()
        .map(|a| (crate::graph::argument_property(a), a.name.clone()))
        .collect();
    Box::new(Composite {
        workflow: builder.inline(definition),
        inputs,
    })
}

impl Activity for Composite {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let Some(workflow) = self.workflow else {
            return Err(Fault::new(
                "RecursiveWorkflow",
                "the workflow uses itself as an activity",
            ));
        };
        let mut locals: Vec<Local> = Vec::with_capacity(self.inputs.len());
        for (property, variable) in &self.inputs {
            locals.push((variable.clone(), cx.input(property)?));
        }
        cx.schedule_with(workflow, 0, locals);
        Ok(Then::Wait)
    }

    fn child_ended(&self, _cx: &mut Cx<'_, '_>, child: &Ended) -> Result<Then, Fault> {
        Ok(Then::Complete(child.outcomes.clone()))
    }

    fn is_composite(&self) -> bool {
        true
    }
}
