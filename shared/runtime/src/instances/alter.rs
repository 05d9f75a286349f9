//! Changing an instance as an operator says.

use std::sync::Arc;

use dormouse_engine::step::{Change, Stimulus};
use dormouse_store::Tenant;
use dormouse_store::instance::head::InstanceHead;

use crate::error::RuntimeError;
use crate::instances::Instances;
use crate::work::report::BurstReport;
use crate::work::resume::ResumeOutcome;
use crate::work::wake::{Advanced, WakeRequest, outcome};

/// What became of an operator's change.
#[derive(Debug)]
pub enum AlterOutcome {
    /// It is made, and the instance has gone on as far as that lets it.
    Altered(Arc<BurstReport>),
    /// It cannot be made as the instance stands: there is no such variable, or no such activity runs, has failed, or can
    /// be run now. Nothing happened.
    NotPossible(Box<InstanceHead>),
    /// It cannot go over to the other version, for this reason. Nothing happened.
    CannotMigrate(String),
    /// It cannot be opened again: its activation strategy allows one, and another instance runs. Nothing happened.
    NotAllowed {
        /// The one that runs.
        holder: String,
    },
    /// The instance has ended. Nothing happened.
    Ended(Box<InstanceHead>),
    /// The instance was deleted.
    Deleted,
    /// There is no such instance.
    NotFound,
}

impl From<Advanced> for AlterOutcome {
    fn from(advanced: Advanced) -> Self {
        let outcome = match advanced {
            Advanced::CannotMigrate(reason) => return Self::CannotMigrate(reason),
            Advanced::NotAllowed(holder) => return Self::NotAllowed { holder },
            other @ (Advanced::Outcome(_) | Advanced::StimulusTaken) => outcome(other),
        };
        match outcome {
            ResumeOutcome::Resumed(report) => Self::Altered(report),
            // Only bookmarks are not open yet, and a change names none.
            ResumeOutcome::BookmarkGone(head) | ResumeOutcome::Seen(head) => {
                Self::NotPossible(head)
            }
            ResumeOutcome::NotYet => Self::NotPossible(Box::default()),
            ResumeOutcome::Ended(head) => Self::Ended(head),
            ResumeOutcome::Deleted => Self::Deleted,
            ResumeOutcome::NotFound => Self::NotFound,
        }
    }
}

impl AlterOutcome {
    /// Whether the change is made.
    #[must_use]
    pub fn is_altered(&self) -> bool {
        matches!(self, Self::Altered(_))
    }

    /// What became of it, in a sentence for whoever wanted it.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::Altered(_) => "altered".to_owned(),
            Self::Ended(_) => "nothing was changed: it has ended".to_owned(),
            Self::Deleted => "nothing was changed: it was deleted".to_owned(),
            Self::NotFound => "there is no such instance".to_owned(),
            Self::NotPossible(_) => "nothing was changed: it does not keep such a variable, or no such activity is running, has failed, or can be run where the instance stands".to_owned(),
            Self::CannotMigrate(reason) => format!("nothing was changed: {reason}"),
            Self::NotAllowed { holder } => {
                format!("nothing was changed: the workflow allows one instance, and `{holder}` runs")
            }
        }
    }
}

impl Instances<'_> {
    /// Changes an instance: all changes in their order, in one commit, or none. Another version of its definition comes
    /// before the others, and there may be one at most.
    ///
    /// # Errors
    ///
    /// As [`Self::resume`].
    pub async fn alter(
        self,
        tenant: &Tenant,
        instance_id: &str,
        changes: Vec<Change>,
    ) -> Result<AlterOutcome, RuntimeError> {
        if changes.iter().any(runs_on) {
            self.pauses().refuse_while_paused()?;
        }
        let altered = self.alter_by(tenant, instance_id, changes, None).await?;
        Ok(altered.into())
    }

    /// The same, once for each event.
    pub(crate) async fn alter_by(
        self,
        tenant: &Tenant,
        instance_id: &str,
        changes: Vec<Change>,
        event_id: Option<String>,
    ) -> Result<Advanced, RuntimeError> {
        let migrates_to = changes.iter().find_map(|change| match change {
            Change::Migrate { version } => Some(*version),
            Change::SetVariable { .. }
            | Change::PutVariable { .. }
            | Change::CancelActivity { .. }
            | Change::CancelExecution { .. }
            | Change::RunActivity { .. }
            | Change::RunExecution { .. }
            | Change::Cancel => None,
        });
        let request = WakeRequest {
            event_id,
            migrates_to,
            ..WakeRequest::new(instance_id, Stimulus::Alter { changes })
        };
        self.kernel().advance(tenant, request).await
    }
}

/// Whether the instance goes on by a change.
fn runs_on(change: &Change) -> bool {
    match change {
        Change::CancelActivity { .. }
        | Change::CancelExecution { .. }
        | Change::RunActivity { .. }
        | Change::RunExecution { .. } => true,
        Change::SetVariable { .. }
        | Change::PutVariable { .. }
        | Change::Migrate { .. }
        | Change::Cancel => false,
    }
}
