//! Completing a task that an outside worker was asked to do.

use dormouse_store::Tenant;
use serde_json::Value;

use crate::error::RuntimeError;
use crate::resume::ResumeOutcome;
use crate::runtime::Runtime;

impl Runtime {
    /// Completes a task with its result. A task id that leads nowhere is [`ResumeOutcome::NotFound`]; a second
    /// completion is [`ResumeOutcome::BookmarkGone`] or [`ResumeOutcome::Ended`].
    ///
    /// # Errors
    ///
    /// As [`Self::resume`].
    pub async fn complete_task(
        &self,
        tenant: &Tenant,
        task_id: &str,
        result: Value,
    ) -> Result<ResumeOutcome, RuntimeError> {
        let _ = (tenant, task_id, result);
        todo!()
    }
}
