//! Telling what is wrong with a definition, all of it at once.

use dormouse_engine::definition::Definition;
use dormouse_engine::graph::Problem;
use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
    /// Everything that is wrong with a definition, what others have taken already included.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn validate(
        &self,
        tenant: &Tenant,
        definition: &Definition,
    ) -> Result<Vec<Problem>, RuntimeError> {
        let _ = (tenant, definition);
        todo!()
    }
}
