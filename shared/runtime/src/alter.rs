//! Changing an instance as an operator says.

use dormouse_engine::step::{Change, Stimulus};
use dormouse_store::Tenant;
use dormouse_store::instance::InstanceHead;

use crate::advance::Waking;
use crate::error::RuntimeError;
use crate::report::BurstReport;
use crate::resume::ResumeOutcome;
use crate::runtime::Runtime;

/// What became of an operator's change.
#[derive(Debug)]
pub enum AlterOutcome {
    /// It is made, and the instance has gone on as far as that lets it.
    Altered(Box<BurstReport>),
    /// It cannot be made as the instance stands: there is no such variable, or no such activity runs or has failed.
    /// Nothing happened.
    NotPossible(Box<InstanceHead>),
    /// The instance has ended. Nothing happened.
    Ended(Box<InstanceHead>),
    /// The instance was deleted.
    Deleted,
    /// There is no such instance.
    NotFound,
}

impl From<ResumeOutcome> for AlterOutcome {
    fn from(outcome: ResumeOutcome) -> Self {
        match outcome {
            ResumeOutcome::Resumed(report) => Self::Altered(report),
            // Only events are seen, and only bookmarks not open yet: a change names neither.
            ResumeOutcome::BookmarkGone(head)
            | ResumeOutcome::Seen(head)
            | ResumeOutcome::NotYet(head) => Self::NotPossible(head),
            ResumeOutcome::Ended(head) => Self::Ended(head),
            ResumeOutcome::Deleted => Self::Deleted,
            ResumeOutcome::NotFound => Self::NotFound,
        }
    }
}

impl Runtime {
    /// Changes an instance: all changes in their order, in one commit, or none.
    ///
    /// # Errors
    ///
    /// As [`Self::resume`].
    pub async fn alter(
        &self,
        tenant: &Tenant,
        instance_id: &str,
        changes: Vec<Change>,
    ) -> Result<AlterOutcome, RuntimeError> {
        let runs_on = changes.iter().any(|change| match change {
            Change::CancelActivity { .. } | Change::CancelExecution { .. } => true,
            Change::SetVariable { .. } | Change::Cancel => false,
        });
        if runs_on {
            self.refuse_while_paused()?;
        }
        let waking = Waking::new(instance_id, Stimulus::Alter { changes });
        Ok(self.advance(tenant, waking).await?.outcome().into())
    }
}
