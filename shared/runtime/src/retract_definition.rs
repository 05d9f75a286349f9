//! Retracting a definition: nothing starts it any more. Its instances go on.

use dormouse_store::Tenant;

use crate::definition_view::DefinitionView;
use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// What became of a retract.
#[derive(Debug)]
pub enum RetractOutcome {
    /// It is retracted; this is the latest version.
    Retracted(Box<DefinitionView>),
    /// It was not published.
    NotPublished,
    /// There is no such definition.
    NotFound,
}

impl Runtime {
    /// Retracts a definition.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn retract_definition(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<RetractOutcome, RuntimeError> {
        let _ = (tenant, definition_id);
        todo!()
    }
}
