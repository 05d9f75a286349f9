//! Cancelling an instance, or one of its activities.

use dormouse_engine::step::Stimulus;
use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::instances::Instances;
use crate::instances::alter::AlterOutcome;
use crate::work::resume::ResumeOutcome;
use crate::work::wake::{WakeRequest, outcome};

impl Instances<'_> {
    /// Cancels an instance; its children are cancelled after it. One that has ended stays as it is:
    /// [`ResumeOutcome::Ended`].
    ///
    /// # Errors
    ///
    /// As [`Self::resume`].
    pub async fn cancel(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<ResumeOutcome, RuntimeError> {
        // A step that runs scripts, or waits for its turn to do so, or a call without an answer would keep it waiting.
        let _none_runs = self.running().cancel(tenant, instance_id);
        let request = WakeRequest::new(instance_id, Stimulus::Cancel);
        Ok(outcome(self.kernel().advance(tenant, request).await?))
    }

    /// Cancels every execution of an activity of an instance. None runs: [`AlterOutcome::NotPossible`].
    ///
    /// # Errors
    ///
    /// As [`Self::resume`].
    pub async fn cancel_activity(
        self,
        tenant: &Tenant,
        instance_id: &str,
        activity_id: &str,
    ) -> Result<AlterOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        let stimulus = Stimulus::CancelActivity {
            activity_id: activity_id.to_owned(),
        };
        let request = WakeRequest::new(instance_id, stimulus);
        Ok(self.kernel().advance(tenant, request).await?.into())
    }
}
