//! Firing a timer that is due.

use dormouse_engine::step::Stimulus;
use serde_json::Map;

use crate::advance::Waking;
use crate::error::RuntimeError;
use crate::port::Metric;
use crate::report::BurstReport;
use crate::resume::ResumeOutcome;
use crate::runtime::Runtime;
use crate::timer::{Timer, Wakes};

/// A timer that comes this much too early is waited for, in ms: clocks differ a little.
const NEARLY_MS: i64 = 1_000;

/// What became of a timer.
#[derive(Debug)]
pub enum TimerOutcome {
    /// It resumed its bookmark, or started its occurrence.
    Fired(Box<BurstReport>),
    /// What it was about is over: a duplicate, or too late. It is forgotten.
    Stale,
    /// It came before its time, and is scheduled again.
    Early,
    /// It cannot be fired yet: the commit it belongs to is not visible, or somebody works on the instance for
    /// long. Fire it again after a pause.
    Later,
}

impl Runtime {
    /// Fires a timer. Firing it early, late or twice is fine.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. Fire it again then.
    pub async fn fire_timer(&self, timer: &Timer) -> Result<TimerOutcome, RuntimeError> {
        self.refuse_while_paused()?;
        let early_ms = timer.due.0 - self.now().0;
        if early_ms > NEARLY_MS {
            let scheduler = &self.ports().scheduler;
            scheduler
                .schedule(timer)
                .await
                .map_err(RuntimeError::Scheduler)?;
            return Ok(TimerOutcome::Early);
        }
        if early_ms > 0 {
            self.ports().clock.sleep(early_ms.unsigned_abs()).await;
        }
        let late_ms = self.now().0 - timer.due.0;
        let outcome = self.fire_due(timer).await?;
        if matches!(outcome, TimerOutcome::Fired(_)) {
            self.record(Metric::TimersFired, 1);
            self.record(Metric::TimerLatenessMs, late_ms);
            if late_ms > self.config().missed_after_ms {
                self.record(Metric::TimersMisfired, 1);
            }
            let (tenant, id) = (&timer.tenant, timer.id());
            tracing::info!(%tenant, timer = id, late_ms, "timer executed");
        }
        Ok(outcome)
    }

    async fn fire_due(&self, timer: &Timer) -> Result<TimerOutcome, RuntimeError> {
        let (instance, bookmark, commit) = match &timer.wakes {
            Wakes::Occurrence(occurrence) => {
                return self.fire_occurrence(&timer.tenant, occurrence).await;
            }
            Wakes::Bookmark {
                instance,
                bookmark,
                commit,
            } => (instance, bookmark, *commit),
        };
        let stimulus = Stimulus::Resume {
            bookmark: bookmark.clone(),
            input: Map::new(),
        };
        let waking = Waking::new(instance.as_str(), stimulus).at(bookmark.as_str(), commit);
        match self.advance(&timer.tenant, waking).await {
            Ok(advanced) => match advanced.outcome() {
                // Its row, if it has one, went with the commit.
                ResumeOutcome::Resumed(report) => Ok(TimerOutcome::Fired(report)),
                ResumeOutcome::NotYet(_) => Ok(TimerOutcome::Later),
                ResumeOutcome::BookmarkGone(_)
                | ResumeOutcome::Seen(_)
                | ResumeOutcome::Ended(_)
                | ResumeOutcome::Deleted
                | ResumeOutcome::NotFound => {
                    self.forget_timer(timer).await?;
                    Ok(TimerOutcome::Stale)
                }
            },
            Err(RuntimeError::InProgress { .. } | RuntimeError::LeaseLost { .. }) => {
                Ok(TimerOutcome::Later)
            }
            Err(error) => Err(error),
        }
    }

    /// Forgets a timer that has fired.
    pub(crate) async fn forget_timer(&self, timer: &Timer) -> Result<(), RuntimeError> {
        let scheduler = &self.ports().scheduler;
        scheduler
            .forget(timer)
            .await
            .map_err(RuntimeError::Scheduler)
    }
}
