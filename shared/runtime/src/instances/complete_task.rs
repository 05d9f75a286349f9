//! Completing a task that an outside worker was asked to do.

use dormouse_engine::activity::run_task::parse_task_id;
use dormouse_store::Tenant;
use serde_json::{Map, Value};

use crate::error::RuntimeError;
use crate::instances::Instances;
use crate::work::resume::{ResumeOutcome, ResumeRequest};

impl Instances<'_> {
    /// Completes a task with its result. A task id that leads nowhere is [`ResumeOutcome::NotFound`]; a second
    /// completion is [`ResumeOutcome::BookmarkGone`] or [`ResumeOutcome::Ended`].
    ///
    /// # Errors
    ///
    /// As [`Self::resume`].
    pub async fn complete_task(
        self,
        tenant: &Tenant,
        task_id: &str,
        result: Value,
    ) -> Result<ResumeOutcome, RuntimeError> {
        let Some((instance_id, bookmark_id)) = parse_task_id(task_id) else {
            return Ok(ResumeOutcome::NotFound);
        };
        let instance_id = instance_id.as_str();
        let input = Map::from_iter([("Result".to_owned(), result)]);
        self.resume(
            tenant,
            ResumeRequest::bookmark(instance_id, bookmark_id.as_str(), input),
        )
        .await
    }
}
