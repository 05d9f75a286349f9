//! How a graph finds the workflows that it uses as activities.

use std::sync::Arc;

use crate::activity_type::ActivityType;
use crate::definition::Definition;

/// A workflow that another one uses as an activity, by everything the file says about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reference {
    /// The activity type, in either of Elsa's spellings.
    pub type_name: String,
    /// The exact version's id.
    pub version_id: Option<String>,
    /// The definition's id.
    pub definition_id: Option<String>,
    /// The version's number.
    pub version: Option<u32>,
}

/// Finds the workflows that are used as activities.
///
/// Order of resolution as in Elsa: the version id, then the definition id with the recorded version, the published
/// one, the latest one, then the type name.
pub trait Children {
    /// The definition, or `None` if there is no such workflow.
    fn find(&self, reference: &Reference) -> Option<Arc<Definition>>;

    /// The activity type that somebody published under the reference's type name, where no workflow has it.
    fn own(&self, _reference: &Reference) -> Option<Arc<ActivityType>> {
        None
    }
}

/// No workflows to use.
impl Children for () {
    fn find(&self, _reference: &Reference) -> Option<Arc<Definition>> {
        None
    }
}

/// Workflows by whatever finds them.
impl<F: Fn(&Reference) -> Option<Arc<Definition>>> Children for F {
    fn find(&self, reference: &Reference) -> Option<Arc<Definition>> {
        self(reference)
    }
}
