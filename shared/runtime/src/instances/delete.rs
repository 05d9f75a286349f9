//! Deleting an instance.

use dormouse_store::Tenant;
use dormouse_store::instance::clean::Deleted;

use crate::error::RuntimeError;
use crate::instances::Instances;
use crate::outbox::batch::OutboxBatch;
use crate::work::message::{Message, Task};
use crate::work::resume::ResumeOutcome;

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

impl Instances<'_> {
    /// Deletes an instance with all it left. One that runs is cancelled first, with its children; one that somebody
    /// works on is deleted all the same, and their work counts for nothing.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<DeleteOutcome, RuntimeError> {
        let mut children = Vec::new();
        match self.cancel(tenant, instance_id).await {
            Ok(ResumeOutcome::NotFound) => return Ok(DeleteOutcome::NotFound),
            Ok(ResumeOutcome::Deleted) => return Ok(DeleteOutcome::Already),
            Ok(
                ResumeOutcome::Resumed(_)
                | ResumeOutcome::BookmarkGone(_)
                | ResumeOutcome::Seen(_)
                | ResumeOutcome::NotYet
                | ResumeOutcome::Ended(_),
            ) => {}
            // Whoever works on it will not be able to commit, so its children are ours to cancel.
            Err(RuntimeError::InProgress { .. } | RuntimeError::LeaseLost { .. }) => {
                if let Some(found) = self.kernel().read(tenant, instance_id).await? {
                    children = found.instance.child_ids();
                }
            }
            // One that cannot be read can be deleted all the same.
            Err(error @ (RuntimeError::Instance { .. } | RuntimeError::VersionMissing { .. })) => {
                tracing::warn!(instance_id, cause = %error, "deleting an instance that cannot be read");
            }
            Err(error) => return Err(error),
        }
        let clean = Task::CleanDeleted {
            instance: instance_id.into(),
        };
        let cancels = children
            .into_iter()
            .map(|instance| Task::Cancel { instance });
        let messages: Vec<_> = std::iter::once(clean)
            .chain(cancels)
            .enumerate()
            .map(|(place, task)| {
                let id = format!("delete/{instance_id}/{place}");
                self.message(tenant, id, task)
            })
            .collect();
        let effects: Result<Vec<_>, _> = messages.iter().map(Message::effect).collect();
        let now = self.now();
        let deleted = self
            .store()
            .instances()
            .delete(tenant, instance_id, now.0, &effects?)
            .await?;
        Ok(match deleted {
            Deleted::Already => DeleteOutcome::Already,
            Deleted::NotFound => DeleteOutcome::NotFound,
            Deleted::Done(keys) => {
                self.outbox()
                    .post(OutboxBatch {
                        keys,
                        messages,
                        forget: Vec::new(),
                    })
                    .await;
                DeleteOutcome::Deleted
            }
        })
    }
}
