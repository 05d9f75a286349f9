//! Firing an occurrence of a recurring trigger: the next one is claimed and scheduled first, then the instance is started
//! whose id is derived from the occurrence.

use std::sync::Arc;

use dormouse_engine::graph::Recurrence;
use dormouse_engine::time::{Timestamp, format_duration};
use dormouse_store::Tenant;
use dormouse_store::instance::uniqueness::Claim;
use dormouse_store::stimulus::chain::{Claimed, Link};
use dormouse_store::stimulus::queued_stimulus::{QueuePlace, QueuedStimulus};
use serde_json::{Map, Value};

use crate::derived_id::derived_id;
use crate::error::RuntimeError;
use crate::kernel::burst::Cause;
use crate::kernel::create::Beginning;
use crate::port::Metric;
use crate::timers::Timers;
use crate::timers::fire::TimerOutcome;
use crate::work::definition_handle::DefinitionHandle;
use crate::work::delivered::Delivered;
use crate::work::start::{Begun, StartOutcome, StartRequest};
use crate::work::timer::{Occurrence, Overlap, Timer, Wakes};

/// How often a running instance is cancelled for the next one, while others start meanwhile.
const ATTEMPTS_MAX: u32 = 5;

/// How long an occurrence waits for an earlier one's end, in ms: for ever, as far as workflows go.
const BUFFERED_MS: i64 = 10 * 365 * 24 * 3_600_000;

impl Timers<'_> {
    /// Fires an occurrence that is due. One of a generation that is not in force is a no-op.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. Fire it again then.
    pub async fn fire_occurrence(
        self,
        tenant: &Tenant,
        occurrence: &Occurrence,
    ) -> Result<TimerOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        let head = self
            .store()
            .definitions()
            .definition_head(tenant, &occurrence.definition_id)
            .await?;
        let in_force = head.is_some_and(|head| {
            head.published.is_some() && head.generation == occurrence.generation
        });
        let outcome = if in_force {
            let due = self.after_missed(occurrence);
            let is_scheduled = match due.recurrence.next(due.nominal) {
                Some(next) => {
                    self.schedule_occurrence(tenant, due.clone().at(next))
                        .await?
                }
                None => true,
            };
            let outcome = self.start_occurrence(tenant, &due).await?;
            if due.recurrence.next(due.nominal).is_none() {
                self.store().chains().end_chain(&due.link(tenant)?).await?;
            }
            // Whoever has claimed the next one may be gone: this one comes again to look.
            if is_scheduled {
                outcome
            } else {
                TimerOutcome::Later
            }
        } else {
            self.store()
                .chains()
                .end_chain(&occurrence.link(tenant)?)
                .await?;
            TimerOutcome::Stale
        };
        if !matches!(outcome, TimerOutcome::Later) {
            self.forget_timer(&occurrence.clone().timer(tenant)).await?;
        }
        Ok(outcome)
    }

    /// The occurrence to fire: of several that were missed, only the latest.
    fn after_missed(self, occurrence: &Occurrence) -> Occurrence {
        let now = self.now();
        let is_missed = now.0 - occurrence.nominal.0 > self.config().missed_after_ms;
        let latest = is_missed
            .then(|| occurrence.recurrence.latest(occurrence.nominal, now))
            .flatten();
        match latest {
            Some(latest) => occurrence.clone().at(latest),
            None => occurrence.clone(),
        }
    }

    /// Schedules an occurrence, once for all who are about to. False: somebody else is about to.
    pub(crate) async fn schedule_occurrence(
        self,
        tenant: &Tenant,
        occurrence: Occurrence,
    ) -> Result<bool, RuntimeError> {
        let link = occurrence.link(tenant)?;
        match self
            .store()
            .chains()
            .claim_occurrence(&link, self.now().0)
            .await?
        {
            Claimed::Done => return Ok(true),
            Claimed::Pending => return Ok(false),
            Claimed::Ours => {}
        }
        self.record(Metric::TimersScheduled, 1);
        self.set_again(&occurrence.timer(tenant)).await?;
        self.store().chains().confirm_occurrence(&link).await?;
        Ok(true)
    }

    /// Brings a chain back that a clock which was ahead has moved into the future. Occurrences that have fired already do
    /// not fire again, for their instances have the same ids.
    pub(crate) async fn rewind_occurrence(
        self,
        standing: &Link,
        occurrence: Occurrence,
    ) -> Result<(), RuntimeError> {
        let now = self.now();
        let recurrence = &occurrence.recurrence;
        let Some(soonest) = recurrence.soonest(occurrence.nominal, now) else {
            return Ok(());
        };
        let tenant = &standing.tenant;
        let occurrence = occurrence.at(soonest);
        let link = occurrence.link(tenant)?;
        let chains = self.store().chains();
        if !chains.rewind_occurrence(standing, &link, now.0).await? {
            return Ok(());
        }
        tracing::warn!(%tenant, definition = standing.definition_id, "a clock was ahead: its schedule is brought back");
        self.set_again(&occurrence.timer(tenant)).await?;
        self.store().chains().confirm_occurrence(&link).await?;
        Ok(())
    }

    /// Sets the timer of the occurrence at which a chain stands, for the one there was is lost. Where there is no chain it
    /// begins with this occurrence.
    pub(crate) async fn set_occurrence_again(
        self,
        tenant: &Tenant,
        first: Occurrence,
    ) -> Result<(), RuntimeError> {
        let standing = self
            .store()
            .chains()
            .standing_occurrence(&first.link(tenant)?)
            .await?;
        let Some(link) = standing else {
            self.schedule_occurrence(tenant, first).await?;
            return Ok(());
        };
        let lost: Occurrence =
            serde_json::from_slice(&link.body).map_err(RuntimeError::format("occurrence"))?;
        self.set_again(&lost.timer(tenant)).await
    }

    /// Sets a timer that is part of no commit, or sets it again.
    pub(crate) async fn set_again(self, timer: &Timer) -> Result<(), RuntimeError> {
        let scheduler = &self.ports().scheduler;
        scheduler
            .schedule(timer)
            .await
            .map_err(RuntimeError::Scheduler)
    }

    async fn start_occurrence(
        self,
        tenant: &Tenant,
        occurrence: &Occurrence,
    ) -> Result<TimerOutcome, RuntimeError> {
        for _ in 0..ATTEMPTS_MAX {
            let holder = match self.try_occurrence(tenant, occurrence, None).await? {
                Begun::Outcome(StartOutcome::Started(report)) => {
                    return Ok(TimerOutcome::Fired(Arc::from(report)));
                }
                Begun::TriggerRuns { holder } => holder,
                Begun::Outcome(_) | Begun::StimulusTaken => return Ok(TimerOutcome::Stale),
            };
            match occurrence.overlap {
                // Without a claim nothing can be in the way.
                Overlap::Allow | Overlap::Skip => {
                    tracing::info!(
                        definition = occurrence.definition_id,
                        holder,
                        "an occurrence is left out: an earlier one still runs"
                    );
                    return Ok(TimerOutcome::Stale);
                }
                Overlap::CancelPrevious => {
                    self.instances().cancel(tenant, &holder).await?;
                }
                Overlap::BufferOne => {
                    if !self.buffer(tenant, occurrence).await? {
                        return Ok(TimerOutcome::Stale);
                    }
                    // The running one may have ended before this was queued: then nobody would start it.
                    let (definition, activity) =
                        (&occurrence.definition_id, &occurrence.activity_id);
                    self.start_buffered(tenant, definition, activity).await?;
                    return Ok(TimerOutcome::Stale);
                }
            }
        }
        Ok(TimerOutcome::Later)
    }

    /// Starts the instance of an occurrence.
    async fn try_occurrence(
        self,
        tenant: &Tenant,
        occurrence: &Occurrence,
        consumed: Option<QueuePlace>,
    ) -> Result<Begun, RuntimeError> {
        let (definition_id, activity_id) = (&occurrence.definition_id, &occurrence.activity_id);
        let request = StartRequest {
            instance_id: Some(occurrence.instance_id(tenant)),
            input: occurrence.input(),
            trigger_activity_id: Some(activity_id.clone()),
            trigger_generation: Some(occurrence.generation),
            ..StartRequest::new(DefinitionHandle::published(definition_id))
        };
        let alone = (occurrence.overlap != Overlap::Allow)
            .then(|| Claim::Trigger(definition_id.clone(), activity_id.clone()));
        let buffers = (occurrence.overlap == Overlap::BufferOne).then(|| activity_id.clone());
        let beginning = Beginning {
            alone,
            cause: Cause {
                consumed,
                buffers,
                ..Cause::default()
            },
        };
        self.kernel().begin(tenant, request, beginning).await
    }

    /// Queues an occurrence until the running one ends. False: one waits already.
    async fn buffer(self, tenant: &Tenant, occurrence: &Occurrence) -> Result<bool, RuntimeError> {
        let hash = buffer_hash(&occurrence.definition_id, &occurrence.activity_id);
        let id = occurrence.nominal.0.to_string();
        let queued = self
            .store()
            .stimuli()
            .queued_stimuli(tenant, &hash, 2)
            .await?;
        if queued.iter().any(|queued| queued.id != id) {
            return Ok(false);
        }
        let payload = serde_json::to_vec(occurrence).map_err(RuntimeError::format("occurrence"))?;
        let now = self.now();
        let queued = QueuedStimulus {
            id,
            hash,
            // The same for every delivery of the occurrence.
            created_ms: occurrence.nominal.0,
            expires_ms: now.plus_ms(BUFFERED_MS).0,
            payload: payload.into(),
            ..QueuedStimulus::default()
        };
        self.store()
            .stimuli()
            .queue_stimulus(tenant, &queued, None)
            .await?;
        Ok(true)
    }

    /// Starts the occurrence that waits for the end of an earlier one's instance, if it has ended.
    pub(crate) async fn start_buffered(
        self,
        tenant: &Tenant,
        definition_id: &str,
        activity_id: &str,
    ) -> Result<Delivered, RuntimeError> {
        let hash = buffer_hash(definition_id, activity_id);
        let queued = self
            .store()
            .stimuli()
            .queued_stimuli(tenant, &hash, 100)
            .await?;
        let mut waiting = queued.into_iter();
        let Some(first) = waiting.next() else {
            return Ok(Delivered::Done);
        };
        // Two that came at the same moment: one waits.
        for other in waiting {
            let now = self.now().0;
            self.store()
                .stimuli()
                .take_queued(tenant, &other.place(), now)
                .await?;
        }
        let occurrence: Occurrence =
            serde_json::from_slice(&first.payload).map_err(RuntimeError::format("occurrence"))?;
        let begun = self.try_occurrence(tenant, &occurrence, Some(first.place()));
        match begun.await? {
            // Another one runs, and its end starts this one.
            Begun::TriggerRuns { .. }
            | Begun::StimulusTaken
            | Begun::Outcome(StartOutcome::Started(_)) => {}
            Begun::Outcome(
                StartOutcome::AlreadyStarted(_)
                | StartOutcome::Deleted { .. }
                | StartOutcome::NotAllowed { .. }
                | StartOutcome::NotFound
                | StartOutcome::Stale,
            ) => {
                let now = self.now().0;
                self.store()
                    .stimuli()
                    .take_queued(tenant, &first.place(), now)
                    .await?;
            }
        }
        Ok(Delivered::Done)
    }
}

/// Under which the occurrence lies that waits for an earlier one.
fn buffer_hash(definition_id: &str, activity_id: &str) -> String {
    derived_id("buffer", &[definition_id, activity_id])
}

impl Occurrence {
    /// The id of the instance that it starts.
    pub(super) fn instance_id(&self, tenant: &Tenant) -> String {
        let generation = self.generation.to_string();
        let nominal = self.nominal.0.to_string();
        let parts = [
            tenant.as_str(),
            &self.definition_id,
            &self.activity_id,
            &generation,
            &nominal,
        ];
        derived_id("occurrence", &parts)
    }

    /// The same at another time.
    pub(super) fn at(mut self, nominal: Timestamp) -> Self {
        self.nominal = nominal;
        self
    }

    /// Its place in the chain of its trigger.
    pub(crate) fn link(&self, tenant: &Tenant) -> Result<Link, RuntimeError> {
        let body = serde_json::to_vec(self).map_err(RuntimeError::format("occurrence"))?;
        Ok(Link {
            tenant: tenant.clone(),
            definition_id: self.definition_id.clone(),
            activity_id: self.activity_id.clone(),
            generation: self.generation,
            nominal_ms: self.nominal.0,
            body: body.into(),
        })
    }

    /// The timer that fires it.
    pub(crate) fn timer(self, tenant: &Tenant) -> Timer {
        Timer {
            tenant: tenant.clone(),
            due: self.nominal,
            wakes: Wakes::Occurrence(self),
        }
    }

    /// What the instance receives, as Elsa names it.
    fn input(&self) -> Map<String, Value> {
        let nominal = self.nominal.to_string();
        let facts = match &self.recurrence {
            Recurrence::At { .. } => vec![("ExecuteAt", nominal)],
            Recurrence::Every { interval_ms } => vec![
                ("StartAt", nominal),
                ("Interval", format_duration(*interval_ms)),
            ],
            Recurrence::Cron { expression, .. } => vec![("CronExpression", expression.clone())],
        };
        let facts = facts.into_iter();
        facts
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect()
    }
}
