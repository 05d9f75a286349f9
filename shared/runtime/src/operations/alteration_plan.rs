//! Alteration plans: an operator's changes of all instances that a filter takes.
//!
//! First the instances are listed, each with a job, then one job is done after the other. Who delivers the plan's message
//! works for a few seconds and leaves the rest to the next one. Everything it knows is in the table, so a crash costs the
//! job in hand at most; an instance takes the changes of a plan once, as it takes an event once. Two who work on one plan
//! at the same time do nothing twice: of two who have listed or done the same, one is told to look again.

use bytes::Bytes;
use dormouse_engine::step::Change;
use dormouse_store::Tenant;
use dormouse_store::item::versioned::Versioned;
use dormouse_store::operation::alteration_plan::{
    AlterationJob, AlterationPlan, JobStatus, PlanStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::RuntimeError;
use crate::instances::alter::AlterOutcome;
use crate::kernel::burst::is_too_large;
use crate::operations::Operations;
use crate::operations::selection::Selection;
use crate::work::delivered::Delivered;
use crate::work::message::{Message, Task};

/// Instances listed at once: each is a write beside the plan's own.
const LISTED_AT_ONCE: usize = 90;

/// Jobs looked at before it is noted how far the plan is.
const JOBS_AT_ONCE: usize = 20;

/// So long one delivery works on a plan, in ms: less than it takes a sweep to think it lost.
const TURN_MS: i64 = 4_000;

/// After so many rounds in which every instance that is left was being worked on, the plan gives up on them.
const IDLE_ROUNDS_MAX: u32 = 8;

/// What is to be done to whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRequest {
    /// The changes of each instance: all or none.
    pub changes: Vec<Change>,
    /// Which instances.
    pub selection: Selection,
    /// What was asked for in the words of whoever asked; shown, and otherwise ignored.
    #[serde(default)]
    pub asked: Value,
}

/// What became of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    /// The plan with this id will be carried out, or is.
    Accepted(String),
    /// There is another plan with the id.
    Differs,
}

/// A plan and how far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanDetail {
    /// What is to be done.
    pub request: PlanRequest,
    /// How far it is.
    pub plan: AlterationPlan,
    /// Some of its jobs, in the order of the instances' ids.
    pub jobs: Vec<AlterationJob>,
}

/// How a part of a plan went.
enum Went {
    On,
    /// All that is left is being worked on by others.
    Idle,
    Over,
}

impl Operations<'_> {
    /// Accepts a plan: when it returns, the plan will be carried out whatever happens. The same plan under the same id
    /// is one.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: it was not accepted.
    pub async fn submit_plan(
        self,
        tenant: &Tenant,
        id: Option<String>,
        request: &PlanRequest,
    ) -> Result<Submitted, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        let id = id.unwrap_or_else(|| self.new_id());
        let what = serde_json::to_vec(request).map_err(RuntimeError::format("plan"))?;
        let now = self.now();
        let plan = AlterationPlan {
            what: Bytes::from(what),
            created_ms: now.0,
            ..AlterationPlan::default()
        };
        let new = Versioned::new(plan);
        let store = self.store();
        // Where its message does not follow because of a crash, the caller has no answer, and asks again.
        if !store
            .operations()
            .put_alteration_plan(tenant, &id, &new, &[], now.0)
            .await?
        {
            let there = store.operations().alteration_plan(tenant, &id).await?;
            if there.is_some_and(|there| there.value.what != new.value.what) {
                return Ok(Submitted::Differs);
            }
        }
        self.outbox().accept(plan_message(tenant, &id)).await?;
        Ok(Submitted::Accepted(id))
    }

    /// A plan, and at most so many of its jobs behind the one of an instance. `None`: there is no such plan, or it has
    /// been over for 30 days.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn plan(
        self,
        tenant: &Tenant,
        id: &str,
        behind: Option<&str>,
        limit: usize,
    ) -> Result<Option<PlanDetail>, RuntimeError> {
        let Some(found) = self
            .store()
            .operations()
            .alteration_plan(tenant, id)
            .await?
        else {
            return Ok(None);
        };
        let jobs = self
            .store()
            .operations()
            .alteration_jobs(tenant, id, behind, limit)
            .await?;
        Ok(Some(PlanDetail {
            request: read(&found.value)?,
            plan: found.value,
            jobs,
        }))
    }

    /// Works on a plan for a while.
    pub(crate) async fn carry_out_plan(
        self,
        tenant: &Tenant,
        id: &str,
    ) -> Result<Delivered, RuntimeError> {
        let until = self.now().plus_ms(TURN_MS);
        loop {
            let Some(mut plan) = self
                .store()
                .operations()
                .alteration_plan(tenant, id)
                .await?
            else {
                return Ok(Delivered::Done);
            };
            let went = match plan.value.status {
                PlanStatus::Pending | PlanStatus::Generating => {
                    self.list_jobs(tenant, id, &mut plan).await?
                }
                PlanStatus::Running => self.do_jobs(tenant, id, &mut plan, until.0).await?,
                PlanStatus::Completed | PlanStatus::Failed => return Ok(Delivered::Done),
            };
            match went {
                Went::Over => return Ok(Delivered::Done),
                Went::Idle => return Ok(Delivered::Later),
                Went::On => {}
            }
            if self.now() >= until || self.is_out_of_time() {
                self.outbox().accept(plan_message(tenant, id)).await?;
                return Ok(Delivered::Done);
            }
        }
    }

    /// Makes the jobs of some more instances.
    async fn list_jobs(
        self,
        tenant: &Tenant,
        id: &str,
        plan: &mut Versioned<AlterationPlan>,
    ) -> Result<Went, RuntimeError> {
        let now = self.now();
        let request = read(&plan.value)?;
        let cursor = plan.value.cursor.take();
        let page = self
            .select(tenant, &request.selection, LISTED_AT_ONCE, cursor)
            .await?;
        let job = |instance_id| AlterationJob {
            instance_id,
            created_ms: now.0,
            ..AlterationJob::default()
        };
        let jobs: Vec<_> = page.ids.into_iter().map(job).collect();
        let value = &mut plan.value;
        value.jobs += u64::try_from(jobs.len()).unwrap_or(0);
        value.started_ms.get_or_insert(now.0);
        value.status = match page.cursor {
            Some(_) => PlanStatus::Generating,
            None => PlanStatus::Running,
        };
        value.cursor = page.cursor;
        // Whoever was first has listed the same.
        let _ = self
            .store()
            .operations()
            .put_alteration_plan(tenant, id, plan, &jobs, now.0)
            .await?;
        Ok(Went::On)
    }

    /// Does some more jobs.
    async fn do_jobs(
        self,
        tenant: &Tenant,
        id: &str,
        plan: &mut Versioned<AlterationPlan>,
        until_ms: i64,
    ) -> Result<Went, RuntimeError> {
        let request = read(&plan.value)?;
        let gives_up = plan.value.idle_rounds >= IDLE_ROUNDS_MAX;
        let behind = plan.value.cursor.take();
        let jobs = self
            .store()
            .operations()
            .alteration_jobs(tenant, id, behind.as_deref(), JOBS_AT_ONCE)
            .await?;
        let mut is_last = jobs.len() < JOBS_AT_ONCE;
        let count = jobs.len();
        for (place, mut job) in jobs.into_iter().enumerate() {
            if job.status == JobStatus::Pending {
                self.do_job(tenant, id, &request, &mut job, gives_up)
                    .await?;
                plan.value.has_done |= job.status != JobStatus::Pending;
            }
            plan.value.has_left |= job.status == JobStatus::Pending;
            plan.value.has_failed |= job.status == JobStatus::Failed;
            plan.value.cursor = Some(job.instance_id);
            if self.now().0 >= until_ms || self.is_out_of_time() {
                is_last &= place + 1 == count;
                break;
            }
        }
        let went = match is_last {
            true => self.end_round(&mut plan.value),
            false => Went::On,
        };
        let now_ms = self.now().0;
        let stored = self
            .store()
            .operations()
            .put_alteration_plan(tenant, id, plan, &[], now_ms)
            .await?;
        // Somebody else was faster, and may have come elsewhere.
        Ok(if stored { went } else { Went::On })
    }

    fn end_round(self, plan: &mut AlterationPlan) -> Went {
        plan.cursor = None;
        let has_done = std::mem::take(&mut plan.has_done);
        if !std::mem::take(&mut plan.has_left) {
            plan.completed_ms = Some(self.now().0);
            plan.status = match plan.has_failed {
                true => PlanStatus::Failed,
                false => PlanStatus::Completed,
            };
            return Went::Over;
        }
        if has_done {
            plan.idle_rounds = 0;
            return Went::On;
        }
        plan.idle_rounds += 1;
        Went::Idle
    }

    /// Changes one instance, and notes what became of it. Its job stays as it is while somebody else works on the
    /// instance.
    async fn do_job(
        self,
        tenant: &Tenant,
        plan_id: &str,
        request: &PlanRequest,
        job: &mut AlterationJob,
        gives_up: bool,
    ) -> Result<(), RuntimeError> {
        job.started_ms = Some(self.now().0);
        let event_id = format!("plan/{plan_id}");
        let (instance, changes) = (&job.instance_id, request.changes.clone());
        let altered = self
            .instances()
            .alter_by(tenant, instance, changes, Some(event_id.clone()));
        let (is_done, told) = match altered.await.map(AlterOutcome::from) {
            Ok(outcome) if outcome.is_altered() => (true, outcome.told()),
            // A delivery before this one may have done it, and it may have ended by it.
            Ok(AlterOutcome::NotPossible(_) | AlterOutcome::Ended(_))
                if self
                    .store()
                    .instances()
                    .has_seen(tenant, instance, &event_id)
                    .await? =>
            {
                (true, "altered".to_owned())
            }
            Ok(outcome) => (false, outcome.told()),
            Err(RuntimeError::InProgress { .. } | RuntimeError::LeaseLost { .. }) if !gives_up => {
                return Ok(());
            }
            Err(error) if gives_up || is_of_instance(&error) => {
                (false, format!("nothing was changed: {error}"))
            }
            Err(error) => return Err(error),
        };
        job.status = match is_done {
            true => JobStatus::Completed,
            false => JobStatus::Failed,
        };
        job.completed_ms = Some(self.now().0);
        job.told = Some(told);
        let store = self.store();
        store
            .operations()
            .put_alteration_job(tenant, plan_id, job, self.now().0)
            .await?;
        Ok(())
    }
}

/// Whether an error is this instance's own, so that others can be changed all the same, and trying again is no use.
fn is_of_instance(error: &RuntimeError) -> bool {
    match error {
        RuntimeError::Shared(error) => is_of_instance(error),
        RuntimeError::Instance { .. }
        | RuntimeError::StoredDefinition { .. }
        | RuntimeError::StoredType { .. }
        | RuntimeError::VersionMissing { .. }
        | RuntimeError::StepTooLong { .. }
        | RuntimeError::Format { .. } => true,
        RuntimeError::Store(error) => is_too_large(error),
        RuntimeError::InProgress { .. }
        | RuntimeError::LeaseLost { .. }
        | RuntimeError::DefinitionContended { .. }
        | RuntimeError::Paused { .. }
        | RuntimeError::Compute(_)
        | RuntimeError::Scheduler(_)
        | RuntimeError::Vault(_)
        | RuntimeError::Queue(_)
        | RuntimeError::Bus(_) => false,
    }
}

fn read(plan: &AlterationPlan) -> Result<PlanRequest, RuntimeError> {
    serde_json::from_slice(&plan.what).map_err(RuntimeError::format("plan"))
}

/// Each of a plan's messages is as good as any other: what is to be done is in the table. Each makes some progress, so
/// they count as no chain.
fn plan_message(tenant: &Tenant, id: &str) -> Message {
    let task = Task::CarryOutPlan {
        plan: id.to_owned(),
    };
    Message::new(format!("plan/{id}"), tenant.clone(), task)
}

#[cfg(test)]
mod tests;
