//! Saving a definition as a draft, and going back to an earlier version.

use dormouse_engine::definition::Definition;
use dormouse_store::Tenant;

use crate::definitions::Definitions;
use crate::definitions::draft::Saving;
use crate::definitions::edit::{Edit, StaleEdit};
use crate::definitions::view::DefinitionView;
use crate::error::RuntimeError;
use crate::loading::load::read_definition;

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
    /// Somebody else has saved something else since it was read.
    Stale(StaleEdit),
}

impl Definitions<'_> {
    /// Saves a definition as a draft: over the latest version if that was never published, else as a new one. One
    /// without an id gets one.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn save(
        self,
        tenant: &Tenant,
        definition: Definition,
    ) -> Result<SaveOutcome, RuntimeError> {
        self.save_draft(tenant, definition, Saving::default()).await
    }

    /// The same, by somebody who may not save over what he has not seen: [`SaveOutcome::Stale`].
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn save_edit(
        self,
        tenant: &Tenant,
        definition: Definition,
        edit: Edit,
    ) -> Result<SaveOutcome, RuntimeError> {
        let saving = Saving {
            edit,
            ..Saving::default()
        };
        self.save_draft(tenant, definition, saving).await
    }

    /// Makes a new version, which is a draft, of an earlier one. A draft that there is stays. `None`: there is no such version.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn revert(
        self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<Option<SaveOutcome>, RuntimeError> {
        let stored = self
            .store()
            .definitions()
            .definition_version(tenant, definition_id, version)
            .await?;
        match stored.filter(|stored| !stored.hidden) {
            None => Ok(None),
            Some(stored) => {
                let saving = Saving {
                    spares_draft: true,
                    ..Saving::default()
                };
                let saved = self.save_draft(tenant, read_definition(&stored)?, saving);
                saved.await.map(Some)
            }
        }
    }
}
