//! Deleting an instance.

use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// What became of a delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// It is gone.
    Deleted,
    /// It was gone before.
    Already,
    /// There was none.
    NotFound,
}

impl Runtime {
    /// Deletes an instance with all it left. One that runs is cancelled first, with its children; one that somebody
    /// works on is deleted all the same, and their work counts for nothing.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete_instance(
        &self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<DeleteOutcome, RuntimeError> {
        let _ = (tenant, instance_id);
        todo!()
    }
}
