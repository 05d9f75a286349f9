//! Saving a definition as a draft, and going back to an earlier version.

use dormouse_engine::definition::Definition;
use dormouse_store::Tenant;

use crate::definition_view::DefinitionView;
use crate::error::RuntimeError;
use crate::load::read_definition;
use crate::runtime::Runtime;

/// What became of a save.
#[derive(Debug)]
pub enum SaveOutcome {
    /// It is saved.
    Saved {
        /// As it is now.
        definition: Box<DefinitionView>,
        /// Whether there was no definition with that id before.
        is_new: bool,
    },
    /// The definition refuses changes.
    ReadOnly,
}

impl Runtime {
    /// Saves a definition as a draft: over the latest version if that was never published, else as a new one. One
    /// without an id gets one.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn save_definition(
        &self,
        tenant: &Tenant,
        definition: Definition,
    ) -> Result<SaveOutcome, RuntimeError> {
        self.save(tenant, definition, false).await
    }

    /// Makes a new draft of an earlier version. `None`: there is no such version.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn revert_definition(
        &self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<Option<SaveOutcome>, RuntimeError> {
        let stored = self
            .store()
            .definition_version(tenant, definition_id, version)
            .await?;
        match stored.filter(|stored| !stored.hidden) {
            None => Ok(None),
            Some(stored) => self
                .save(tenant, read_definition(&stored)?, false)
                .await
                .map(Some),
        }
    }
}
