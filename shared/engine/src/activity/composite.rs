//! A workflow used as an activity. Its own activities are inlined below the node and run in the same instance.

use std::sync::Arc;

use super::{Activity, Descriptor, InputDescriptor, OutputDescriptor};
use crate::definition::Definition;
use crate::definition::declaration::Argument;
use crate::definition::fields::Fields;
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
    let fields = Fields::of_map(definition.raw());
    descriptor.inputs = declared(fields, "inputs", &definition.inputs)
        .map(|(argument, json)| InputDescriptor {
            name: crate::graph::argument_property(argument),
            data_type: argument.data_type.clone(),
            type_name: type_of(json),
            default: argument.default.clone(),
            description: json.text("description").unwrap_or_default(),
            ui_hint: hint(json.text("uiHint").as_deref()),
            options: Vec::new(),
            is_lazy: false,
            is_sensitive: false,
            is_plain: false,
        })
        .collect();
    descriptor.outputs = declared(fields, "outputs", &definition.outputs)
        .map(|(argument, json)| OutputDescriptor {
            name: crate::graph::argument_property(argument),
            data_type: argument.data_type.clone(),
            type_name: type_of(json),
            description: json.text("description").unwrap_or_default(),
            is_opaque: false,
        })
        .collect();
    descriptor
}

/// What is declared, each with its JSON. Those without a name are nothing to either.
fn declared<'a>(
    fields: Fields<'a>,
    property: &str,
    arguments: &'a [Argument],
) -> impl Iterator<Item = (&'a Argument, Fields<'a>)> {
    let json = fields.list(property).into_iter().map(Fields::of);
    arguments
        .iter()
        .zip(json.filter(|j| j.text("name").is_some()))
}

fn type_of(json: Fields<'_>) -> String {
    let named = json.text("type").or_else(|| json.text("typeName"));
    named.unwrap_or_else(|| "Object".into())
}

/// The editor that the workflow's author chose, if Studio has it.
fn hint(name: Option<&str>) -> &'static str {
    const KNOWN: [&str; 8] = [
        "singleline",
        "multiline",
        "checkbox",
        "dropdown",
        "multitext",
        "code-editor",
        "json-editor",
        "datetime-picker",
    ];
    let found = KNOWN.into_iter().find(|known| Some(*known) == name);
    found.unwrap_or("singleline")
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
            // As in Elsa, an input that is not given is null here, whatever its default.
            locals.push((variable.clone(), cx.given(property)?.unwrap_or_default()));
        }
        cx.schedule_with(workflow, 0, locals);
        Ok(Then::Wait)
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, child: &Ended) -> Result<Then, Fault> {
        let outcomes = cx.take_composite_outcomes();
        Ok(Then::Complete(
            outcomes.unwrap_or_else(|| child.outcomes.clone()),
        ))
    }

    fn is_composite(&self) -> bool {
        true
    }
}
