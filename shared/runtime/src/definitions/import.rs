//! Importing a definition as Elsa's REST API does: known or not, it becomes a draft.

use dormouse_engine::definition::Definition;
use dormouse_store::Tenant;

use crate::definitions::Definitions;
use crate::definitions::draft::Saving;
use crate::definitions::save::SaveOutcome;
use crate::error::RuntimeError;

impl Definitions<'_> {
    /// Imports a definition: a new draft of a known one; an unknown one keeps the ids that the file gives. Never
    /// published, whatever the file says.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn import(
        self,
        tenant: &Tenant,
        definition: Definition,
    ) -> Result<SaveOutcome, RuntimeError> {
        let saving = Saving {
            keeps_id: true,
            ..Saving::default()
        };
        self.save_draft(tenant, definition, saving).await
    }
}
