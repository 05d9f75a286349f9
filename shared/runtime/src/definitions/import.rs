//! Importing a definition as Elsa's REST API does: known or not, it becomes a draft.

use dormouse_engine::definition::Definition;
use dormouse_store::Tenant;

use crate::definitions::draft::Saving;
use crate::definitions::save::SaveOutcome;
use crate::runtime::Runtime;
use crate::runtime::error::RuntimeError;

impl Runtime {
    /// Imports a definition: a new draft of a known one; an unknown one keeps the ids that the file gives. Never
    /// published, whatever the file says.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn import_definition(
        &self,
        tenant: &Tenant,
        definition: Definition,
    ) -> Result<SaveOutcome, RuntimeError> {
        let saving = Saving {
            keeps_id: true,
            ..Saving::default()
        };
        self.save(tenant, definition, saving).await
    }
}
