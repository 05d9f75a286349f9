//! Deleting a definition, or one of its versions.

use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
    /// Deletes a definition; a published one is retracted first. Its instances go on. False: there was none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete_definition(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<bool, RuntimeError> {
        let _ = (tenant, definition_id);
        todo!()
    }

    /// Deletes a version; the published one is retracted first. False: there was none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete_version(
        &self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<bool, RuntimeError> {
        let _ = (tenant, definition_id, version);
        todo!()
    }
}
