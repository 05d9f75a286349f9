//! What is told of a task by whoever does it.

use dormouse_engine::activity::own::{Word, is_task};
use dormouse_engine::activity::run_task::{RESULT, parse_task_id};
use dormouse_store::Tenant;
use serde_json::{Map, Value};

use super::Tasks;
use crate::error::RuntimeError;
use crate::work::resume::{ResumeOutcome, ResumeRequest};

/// What became of word of a task.
#[derive(Debug)]
pub enum Heard {
    /// It was taken in, or comes too late: the outcome says which.
    By(ResumeOutcome),
    /// The task is one of `RunTask`, which knows no heartbeats.
    HasNoHeartbeat,
}

impl Tasks<'_> {
    /// Answers a task: `{outputs, outcome}` or `{error}`. A task that is gone is [`ResumeOutcome::BookmarkGone`] or
    /// [`ResumeOutcome::Ended`], and nothing happens.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn answer(
        self,
        tenant: &Tenant,
        task_id: &str,
        answer: Value,
    ) -> Result<ResumeOutcome, RuntimeError> {
        let answer = self.redact(tenant, answer).await?;
        self.tell(tenant, task_id, &Word::Answered { answer }).await
    }

    /// Completes a task: one of an activity whose type is data with `{outputs, outcome}`, one of `RunTask` with its result.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn complete(
        self,
        tenant: &Tenant,
        task_id: &str,
        result: Value,
        answer: Value,
    ) -> Result<ResumeOutcome, RuntimeError> {
        let answer = self.redact(tenant, answer).await?;
        let result = self.redact(tenant, result).await?;
        let mut input = Word::Answered { answer }.input();
        input.insert(RESULT.to_owned(), result);
        self.resume_with(tenant, task_id, input).await
    }

    /// Whoever does the task is still at work.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn heartbeat(
        self,
        tenant: &Tenant,
        task_id: &str,
        details: Value,
    ) -> Result<Heard, RuntimeError> {
        let Some((instance_id, bookmark)) = parse_task_id(task_id) else {
            return Ok(Heard::By(ResumeOutcome::NotFound));
        };
        // Any word would burn the bookmark of another kind of task.
        let found = self.query().instance(tenant, instance_id.as_str()).await?;
        let open = found.as_ref().and_then(|f| f.instance.bookmark(&bookmark));
        if open.is_some_and(|bookmark| !is_task(bookmark)) {
            return Ok(Heard::HasNoHeartbeat);
        }
        let details = self.redact(tenant, details).await?;
        let word = Word::Heartbeat { details };
        Ok(Heard::By(self.tell(tenant, task_id, &word).await?))
    }

    /// Takes the values of secrets out of what a worker tells: which of them it was given is not known here.
    async fn redact(self, tenant: &Tenant, told: Value) -> Result<Value, RuntimeError> {
        let values = self.secret_values(tenant).await?;
        self.redacted(tenant, values.redaction(), told).await
    }

    pub(super) async fn tell(
        self,
        tenant: &Tenant,
        task_id: &str,
        word: &Word,
    ) -> Result<ResumeOutcome, RuntimeError> {
        self.resume_with(tenant, task_id, word.input()).await
    }

    async fn resume_with(
        self,
        tenant: &Tenant,
        task_id: &str,
        input: Map<String, Value>,
    ) -> Result<ResumeOutcome, RuntimeError> {
        let Some((instance_id, bookmark)) = parse_task_id(task_id) else {
            return Ok(ResumeOutcome::NotFound);
        };
        let request = ResumeRequest::bookmark(instance_id.as_str(), bookmark.as_str(), input);
        self.instances().resume(tenant, request).await
    }
}
