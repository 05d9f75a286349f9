//! Changing an instance as an operator says.

use dormouse_engine::step::{Change, Stimulus};
use dormouse_store::Tenant;

use crate::advance::Waking;
use crate::error::RuntimeError;
use crate::resume::ResumeOutcome;
use crate::runtime::Runtime;

impl Runtime {
    /// Changes an instance: all changes in their order, in one commit, or none. One that has ended stays as it is:
    /// [`ResumeOutcome::Ended`]. One of the changes cannot be made: [`ResumeOutcome::BookmarkGone`].
    ///
    /// # Errors
    ///
    /// As [`Self::resume`].
    pub async fn alter(
        &self,
        tenant: &Tenant,
        instance_id: &str,
        changes: Vec<Change>,
    ) -> Result<ResumeOutcome, RuntimeError> {
        let runs_on = changes.iter().any(|change| match change {
            Change::CancelActivity { .. } | Change::CancelExecution { .. } => true,
            Change::SetVariable { .. } | Change::Cancel => false,
        });
        if runs_on {
            self.refuse_while_paused()?;
        }
        let waking = Waking::new(instance_id, Stimulus::Alter { changes });
        Ok(self.advance(tenant, waking).await?.outcome())
    }
}
