//! Starting an instance: one write and one small read.

use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::instances::Instances;
use crate::kernel::create::Beginning;
use crate::work::start::{StartOutcome, StartRequest};

impl Instances<'_> {
    /// Starts an instance and runs it until it waits or ends.
    ///
    /// One write and one consistent read of the definition's head: the burst runs on the cached version while the
    /// head is read, and only what the version in force produced is committed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. After one that is unknown, the same call with the same instance id or key settles it.
    pub async fn start(
        self,
        tenant: &Tenant,
        request: StartRequest,
    ) -> Result<StartOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        Ok(self
            .kernel()
            .begin(tenant, request, Beginning::default())
            .await?
            .outcome())
    }
}
