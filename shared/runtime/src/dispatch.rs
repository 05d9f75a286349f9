//! Starting an instance without waiting for it.

use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::start::StartRequest;

/// What became of a dispatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DispatchOutcome {
    /// It will be started, whatever happens.
    Accepted {
        /// The id it has.
        instance_id: String,
    },
    /// There is no such definition, or no such version of it.
    NotFound,
}

impl Runtime {
    /// Promises to start an instance. When it returns, the promise outlives this process.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn dispatch(
        &self,
        tenant: &Tenant,
        request: StartRequest,
    ) -> Result<DispatchOutcome, RuntimeError> {
        let _ = (tenant, request);
        todo!()
    }
}
