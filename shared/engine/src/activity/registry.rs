//! Which activity types there are.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::{Activity, Descriptor, composite, not_found, own};
use crate::activity_type::ActivityType;
use crate::definition::Definition;
use crate::definition::fields::Fields;
use crate::graph::{Builder, Children, Reference};

/// An activity type that every build has.
#[derive(Debug)]
pub struct BuiltIn {
    /// What it looks like.
    pub descriptor: Descriptor,
    /// Reads its own properties of one activity's JSON.
    pub build: fn(&mut Builder<'_>, Fields<'_>) -> Box<dyn Activity>,
}

/// What an activity's type stands for.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A built-in type.
    BuiltIn(&'static BuiltIn),
    /// A workflow used as an activity.
    Composite(Arc<Definition>),
    /// A type that is data.
    Own(Arc<ActivityType>),
    /// Nothing we know. Kept, and faults when it runs.
    NotFound,
}

impl Kind {
    /// What the type looks like.
    pub(crate) fn descriptor(&self, _builder: &Builder<'_>) -> Descriptor {
        match self {
            Self::BuiltIn(built_in) => built_in.descriptor.clone(),
            Self::Composite(definition) => composite::descriptor(definition),
            Self::Own(ty) => ty.descriptor(),
            Self::NotFound => Descriptor::default(),
        }
    }

    /// Makes the activity of one node.
    pub(crate) fn build(&self, builder: &mut Builder<'_>, fields: Fields<'_>) -> Box<dyn Activity> {
        match self {
            Self::BuiltIn(built_in) => (built_in.build)(builder, fields),
            Self::Composite(definition) => composite::build(builder, definition),
            Self::Own(ty) => own::build(builder, ty),
            Self::NotFound => not_found::build(builder, fields),
        }
    }
}

/// All built-in types by name.
pub fn built_ins() -> &'static BTreeMap<String, BuiltIn> {
    static ALL: OnceLock<BTreeMap<String, BuiltIn>> = OnceLock::new();
    ALL.get_or_init(|| {
        let list = vec![
            super::break_::built_in(),
            super::bulk_dispatch_workflows::built_in(),
            super::compensate::built_in(),
            super::complete::built_in(),
            super::correlate::built_in(),
            super::cron::built_in(),
            super::delay::built_in(),
            super::dispatch_workflow::built_in(),
            super::download_http_file::built_in(),
            super::event::built_in(),
            super::execute_workflow::built_in(),
            super::fault::built_in(),
            super::finish::built_in(),
            super::flow_decision::built_in(),
            super::flow_fork::built_in(),
            super::flow_join::built_in(),
            super::flow_node::built_in(),
            super::flow_send_http_request::built_in(),
            super::flow_switch::built_in(),
            super::flowchart::built_in(),
            super::for_::built_in(),
            super::for_each::built_in(),
            super::fork::built_in(),
            super::http_endpoint::built_in(),
            super::if_::built_in(),
            super::marker::start(),
            super::marker::end(),
            super::parallel::built_in(),
            super::parallel_for_each::built_in(),
            super::publish_event::built_in(),
            super::read_line::built_in(),
            super::run_javascript::built_in(),
            super::run_javascript::csharp(),
            super::run_task::built_in(),
            super::send_http_request::built_in(),
            super::sequence::built_in(),
            super::set_name::built_in(),
            super::set_output::built_in(),
            super::set_variable::built_in(),
            super::start_at::built_in(),
            super::state_machine::built_in(),
            super::switch::built_in(),
            super::throw::built_in(),
            super::timer::built_in(),
            super::try_catch::built_in(),
            super::while_::built_in(),
            super::write_file_http_response::built_in(),
            super::write_http_response::built_in(),
            super::write_line::built_in(),
        ];
        list.into_iter()
            .map(|b| (b.descriptor.type_name.clone(), b))
            .collect()
    })
}

/// Finds what an activity's type stands for: a version id names a workflow, then the type, then a definition id.
/// For a workflow that is not found its reference comes back too.
#[must_use]
pub fn resolve(
    type_name: &str,
    fields: Fields<'_>,
    children: &dyn Children,
) -> (Kind, Option<Reference>) {
    let reference = Reference {
        type_name: type_name.to_owned(),
        version_id: fields.text("workflowDefinitionVersionId"),
        definition_id: fields.text("workflowDefinitionId"),
        version: fields
            .integer("version")
            .and_then(|v| u32::try_from(v).ok()),
    };
    if reference.version_id.is_none()
        && let Some(built_in) = built_ins().get(type_name)
    {
        return (Kind::BuiltIn(built_in), None);
    }
    if let Some(definition) = children.find(&reference) {
        return (Kind::Composite(definition), None);
    }
    match children.own(&reference) {
        Some(ty) => (Kind::Own(ty), None),
        None => (Kind::NotFound, Some(reference)),
    }
}
