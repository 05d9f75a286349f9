//! Working on an instance that is there: take the lease, step, commit, go on. What resume, cancel, retry, timers
//! and continuations have in common.

use dormouse_engine::instance::{Instance, SubStatus};
use dormouse_engine::step::Stimulus;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::commit::Committed;
use dormouse_store::lease::Lease;

use crate::burst::{Burst, Cause, Since, Taken, Taking};
use crate::error::RuntimeError;
use crate::pin::Pin;
use crate::resume::ResumeOutcome;
use crate::runtime::Runtime;

/// How often a first commit that somebody else got ahead of is tried anew.
const ATTEMPTS_MAX: u32 = 5;

/// What wakes an instance.
#[derive(Debug, Clone)]
pub(crate) struct Waking {
    pub(crate) instance_id: String,
    /// The bookmark that must be open, and the commit that opens it (0: not known).
    pub(crate) bookmark: Option<(String, u64)>,
    pub(crate) stimulus: Stimulus,
    pub(crate) cause: Cause,
    pub(crate) has_http_request: bool,
    /// Also if the instance has ended, by failing.
    pub(crate) reopens: bool,
    /// Activities that ran since the instance last waited.
    pub(crate) activities: u64,
    /// The version of its definition that it goes over to first.
    pub(crate) migrates_to: Option<u32>,
}

impl Waking {
    pub(crate) fn new(instance_id: impl Into<String>, stimulus: Stimulus) -> Self {
        Self {
            instance_id: instance_id.into(),
            bookmark: None,
            stimulus,
            cause: Cause::default(),
            has_http_request: false,
            reopens: false,
            activities: 0,
            migrates_to: None,
        }
    }

    pub(crate) fn at(mut self, bookmark_id: impl Into<String>, commit: u64) -> Self {
        self.bookmark = Some((bookmark_id.into(), commit));
        self
    }
}

/// What became of it.
#[derive(Debug)]
pub(crate) enum Advanced {
    Outcome(ResumeOutcome),
    /// Somebody else took the kept stimulus, or it expired. Nothing happened.
    StimulusTaken,
    /// It cannot go over to the other version, for this reason. Nothing happened.
    CannotMigrate(String),
}

impl Advanced {
    /// The outcome where no kept stimulus and no other version was involved.
    pub(crate) fn outcome(self) -> ResumeOutcome {
        match self {
            Self::Outcome(outcome) => outcome,
            Self::StimulusTaken | Self::CannotMigrate(_) => ResumeOutcome::NotFound,
        }
    }
}

impl Runtime {
    /// Wakes an instance and runs it until it waits or ends.
    pub(crate) async fn advance(
        &self,
        tenant: &Tenant,
        waking: Waking,
    ) -> Result<Advanced, RuntimeError> {
        let taking = Taking {
            instance_id: &waking.instance_id,
            bookmark: waking
                .bookmark
                .as_ref()
                .map(|(id, commit)| (id.as_str(), *commit)),
            event_id: waking.cause.event_id.as_deref(),
            reopens: waking.reopens,
        };
        for _ in 0..ATTEMPTS_MAX {
            let (lease, leased) = match self.take(tenant, taking).await? {
                Taken::Lease(lease, at) => (lease, at),
                Taken::Not(outcome) => return Ok(Advanced::Outcome(outcome)),
            };
            if let Some(advanced) = self.advance_with(tenant, &waking, lease, leased).await? {
                return Ok(advanced);
            }
        }
        Err(RuntimeError::LeaseLost {
            instance_id: waking.instance_id,
        })
    }

    /// `None`: the lease was lost before anything was committed.
    async fn advance_with(
        &self,
        tenant: &Tenant,
        waking: &Waking,
        mut lease: Box<Lease>,
        leased: Timestamp,
    ) -> Result<Option<Advanced>, RuntimeError> {
        let mut burst = match self.burst_of(tenant, waking, &lease).await {
            Ok(burst) => burst,
            Err(error) => {
                // The error at hand says more than one about giving back; the lease runs out anyway.
                let _ = self.store().release(&mut lease).await;
                return Err(error);
            }
        };
        burst.since = Since {
            leased: Some(leased),
            is_active: !lease.head().summary.ended,
        };
        burst.lease = Some(lease);
        let mut instance = match burst.stored_instance() {
            Ok(instance) => instance,
            Err(error) => return Err(burst.abandon(error).await),
        };
        if let Some(version) = waking.migrates_to {
            instance = match burst.migrate(instance, version).await {
                Ok(Ok(instance)) => instance,
                Ok(Err(reason)) => {
                    burst.release().await?;
                    return Ok(Some(Advanced::CannotMigrate(reason)));
                }
                Err(error) => return Err(burst.abandon(error).await),
            };
        }
        let is_idle = waking.stimulus == Stimulus::Continue && !is_cut_off(&instance);
        if is_idle {
            return nothing_to_do(burst).await.map(Some);
        }
        let transition = burst.step(instance, waking.stimulus.clone());
        if !transition.is_changed {
            return nothing_to_do(burst).await.map(Some);
        }
        let refused = match burst.commit(transition, &waking.cause).await {
            Ok((Committed::Done(_), committed)) => {
                let report = Box::pin(burst.run_on(committed)).await?;
                return Ok(Some(Advanced::Outcome(ResumeOutcome::Resumed(Box::new(
                    report,
                )))));
            }
            Ok((refused, _)) => refused,
            Err(error) => return Err(burst.abandon(error).await),
        };
        let head = Box::new(burst.lease()?.head().clone());
        burst.release().await?;
        Ok(match refused {
            Committed::Done(_) | Committed::Lost(_) => None,
            Committed::StimulusTaken => Some(Advanced::StimulusTaken),
            Committed::Seen | Committed::Answered(_) => {
                Some(Advanced::Outcome(ResumeOutcome::Seen(head)))
            }
        })
    }

    async fn burst_of<'a>(
        &'a self,
        tenant: &'a Tenant,
        waking: &Waking,
        lease: &Lease,
    ) -> Result<Burst<'a>, RuntimeError> {
        let head = lease.head();
        let pin = Pin::decode(&head.pinned)?;
        let runnable = self
            .runnable_of(tenant, &head.summary, pin.bindings)
            .await?;
        let mut burst = Burst::new(
            self,
            tenant,
            runnable,
            waking.has_http_request,
            waking.activities,
        );
        burst.buffers = pin.buffers;
        Ok(burst)
    }
}

async fn nothing_to_do(mut burst: Burst<'_>) -> Result<Advanced, RuntimeError> {
    let head = Box::new(burst.lease()?.head().clone());
    burst.release().await?;
    Ok(Advanced::Outcome(if head.summary.ended {
        ResumeOutcome::Ended(head)
    } else {
        ResumeOutcome::BookmarkGone(head)
    }))
}

/// Whether a burst of the instance was cut off, so that there is something to continue.
pub(crate) fn is_cut_off(instance: &Instance) -> bool {
    match instance.sub_status {
        SubStatus::Executing | SubStatus::Interrupted | SubStatus::Pending => true,
        SubStatus::Suspended | SubStatus::Finished | SubStatus::Faulted | SubStatus::Cancelled => {
            false
        }
    }
}
