//! Retrying activities that have failed.

use dormouse_engine::step::Stimulus;
use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::instances::Instances;
use crate::instances::alter::AlterOutcome;
use crate::work::wake::WakeRequest;

impl Instances<'_> {
    /// Runs the failed activities with these ids again, or all of them. A faulted instance goes on; one that is
    /// finished or cancelled stays so: [`AlterOutcome::Ended`]. Nothing has failed: [`AlterOutcome::NotPossible`].
    ///
    /// # Errors
    ///
    /// As [`Self::resume`].
    pub async fn retry(
        self,
        tenant: &Tenant,
        instance_id: &str,
        activity_ids: Vec<String>,
    ) -> Result<AlterOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        let request = WakeRequest {
            reopens: true,
            ..WakeRequest::new(instance_id, Stimulus::Retry { activity_ids })
        };
        Ok(self.kernel().advance(tenant, request).await?.into())
    }
}
