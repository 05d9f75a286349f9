//! Firing a timer that is due.

use std::sync::Arc;

use dormouse_engine::step::Stimulus;
use serde_json::Map;

use crate::error::RuntimeError;
use crate::port::Metric;
use crate::timers::Timers;
use crate::work::report::BurstReport;
use crate::work::resume::ResumeOutcome;
use crate::work::target::Target;
use crate::work::timer::{Timer, Wakes};
use crate::work::wake::{Advanced, WakeRequest, outcome};

/// A timer that comes this much too early is waited for, in ms: clocks differ a little.
const NEARLY_MS: i64 = 1_000;

/// What became of a timer.
#[derive(Debug)]
pub enum TimerOutcome {
    /// It resumed its bookmark, or started its occurrence.
    Fired(Arc<BurstReport>),
    /// What it was about is over: a duplicate, or too late. It is forgotten.
    Stale,
    /// It came before its time, and is scheduled again.
    Early,
    /// It cannot be fired yet: the commit it belongs to is not visible, or somebody works on the instance for
    /// long. Fire it again after a pause.
    Later,
}

impl Timers<'_> {
    /// Fires a timer. Firing it early, late or twice is fine.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. Fire it again then.
    pub async fn fire(self, timer: &Timer) -> Result<TimerOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
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
        let late_ms = self.late_ms(timer);
        let outcome = self.fire_due(timer).await?;
        self.measure_fired(timer, &outcome, late_ms);
        Ok(outcome)
    }

    fn measure_fired(self, timer: &Timer, outcome: &TimerOutcome, late_ms: i64) {
        if !matches!(outcome, TimerOutcome::Fired(_)) {
            return;
        }
        self.record(Metric::TimersFired, 1);
        self.record(Metric::TimerLatenessMs, late_ms);
        if late_ms > self.config().missed_after_ms {
            self.record(Metric::TimersMisfired, 1);
        }
        let (tenant, id) = (&timer.tenant, timer.id());
        tracing::info!(%tenant, timer = id, late_ms, "timer executed");
    }

    async fn fire_due(self, timer: &Timer) -> Result<TimerOutcome, RuntimeError> {
        let (instance, request) = match &timer.wakes {
            Wakes::Occurrence(occurrence) => {
                return self.fire_occurrence(&timer.tenant, occurrence).await;
            }
            Wakes::Bookmark { instance, .. } => (instance, timer.request()),
        };
        let Some(request) = request else {
            return Ok(TimerOutcome::Stale);
        };
        let tenant = &timer.tenant;
        let mut answers = self
            .kernel()
            .advance_all(tenant, instance.as_str(), vec![request])
            .await;
        match answers.pop() {
            Some(answer) => self.fired(timer, answer).await,
            None => Ok(TimerOutcome::Stale),
        }
    }

    /// Fires timers of one instance that are due, in one burst as far as it can be. Answers each in its place.
    pub async fn fire_all(self, timers: &[Timer]) -> Vec<Result<TimerOutcome, RuntimeError>> {
        let together = timers
            .iter()
            .map(|timer| Some((timer, timer.instance()?, timer.request()?)));
        let together: Option<Vec<_>> = together.collect();
        let is_early = |timer: &Timer| timer.due > self.now();
        let Some(together) = together.filter(|_| !timers.iter().any(is_early)) else {
            let mut outcomes = Vec::with_capacity(timers.len());
            for timer in timers {
                outcomes.push(self.fire(timer).await);
            }
            return outcomes;
        };
        let Some((first, instance, _)) = together.first() else {
            return Vec::new();
        };
        if let Err(paused) = self.pauses().refuse_while_paused() {
            let paused = Arc::new(paused);
            return timers
                .iter()
                .map(|_| Err(RuntimeError::Shared(Arc::clone(&paused))))
                .collect();
        }
        let (tenant, instance) = (first.tenant.clone(), (*instance).to_owned());
        let late_ms: Vec<i64> = timers.iter().map(|timer| self.late_ms(timer)).collect();
        let requests = together.into_iter().map(|(.., request)| request).collect();
        let answers = self
            .kernel()
            .advance_all(&tenant, &instance, requests)
            .await;
        let mut outcomes = Vec::with_capacity(timers.len());
        for ((timer, answer), late_ms) in timers.iter().zip(answers).zip(late_ms) {
            let outcome = self.fired(timer, answer).await;
            if let Ok(outcome) = &outcome {
                self.measure_fired(timer, outcome, late_ms);
            }
            outcomes.push(outcome);
        }
        outcomes
    }

    fn late_ms(self, timer: &Timer) -> i64 {
        self.now().0 - timer.due.0
    }

    async fn fired(
        self,
        timer: &Timer,
        answer: Result<Advanced, RuntimeError>,
    ) -> Result<TimerOutcome, RuntimeError> {
        match answer.map(outcome) {
            // Its row, if it has one, went with the commit.
            Ok(ResumeOutcome::Resumed(report)) => Ok(TimerOutcome::Fired(report)),
            Ok(ResumeOutcome::NotYet) => Ok(TimerOutcome::Later),
            Ok(
                ResumeOutcome::BookmarkGone(_)
                | ResumeOutcome::Seen(_)
                | ResumeOutcome::Ended(_)
                | ResumeOutcome::Deleted
                | ResumeOutcome::NotFound,
            ) => {
                self.forget_timer(timer).await?;
                Ok(TimerOutcome::Stale)
            }
            Err(error) if error.is_contended() => Ok(TimerOutcome::Later),
            Err(error) => Err(error),
        }
    }

    /// Forgets a timer that has fired.
    pub(crate) async fn forget_timer(self, timer: &Timer) -> Result<(), RuntimeError> {
        let scheduler = &self.ports().scheduler;
        scheduler
            .forget(timer)
            .await
            .map_err(RuntimeError::Scheduler)
    }
}

impl Timer {
    /// The instance whose bookmark it resumes.
    fn instance(&self) -> Option<&str> {
        match &self.wakes {
            Wakes::Bookmark { instance, .. } => Some(instance.as_str()),
            Wakes::Occurrence(_) => None,
        }
    }

    /// Request to resume its bookmark.
    fn request(&self) -> Option<WakeRequest> {
        let Wakes::Bookmark {
            instance,
            bookmark,
            stamp,
        } = &self.wakes
        else {
            return None;
        };
        let target = Target::Bookmark {
            id: bookmark.as_str().to_owned(),
            stamp: *stamp,
            stimulus: Stimulus::Resume {
                bookmark: bookmark.clone(),
                input: Map::new(),
            },
        };
        Some(WakeRequest::to(instance.as_str(), target))
    }
}
