//! Publishing a definition: one atomic write, after which no start anywhere uses the version before.

use dormouse_engine::graph::Problem;
use dormouse_store::Tenant;

use crate::definition_view::DefinitionView;
use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// What became of a publish.
#[derive(Debug)]
pub enum PublishOutcome {
    /// It is published.
    Published(Box<Publication>),
    /// It has errors and is not published; all of its problems.
    Invalid(Vec<Problem>),
    /// The definition refuses changes.
    ReadOnly,
    /// There is no such definition.
    NotFound,
}

/// A published version.
#[derive(Debug)]
pub struct Publication {
    /// As it is now.
    pub definition: DefinitionView,
    /// Whether it was published already, so that nothing had to be done.
    pub was_published: bool,
    /// The definitions that were moved to the new version.
    pub consumers_updated: Vec<String>,
    /// What is wrong with it and did not keep it from being published.
    pub problems: Vec<Problem>,
}

impl Runtime {
    /// Publishes the latest version of a definition.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn publish_definition(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<PublishOutcome, RuntimeError> {
        let _ = (tenant, definition_id);
        todo!()
    }

    /// Moves the definitions that use this one as an activity to its published version, and tells which. Published
    /// ones are published again, drafts are changed in place.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. The same call again does what is missing.
    pub async fn update_references(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Vec<String>, RuntimeError> {
        let _ = (tenant, definition_id);
        todo!()
    }
}
