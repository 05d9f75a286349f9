//! What a burst reports of itself: what it commits, instances that began and ended, how long it took, how long it held its lease.

use dormouse_engine::instance::SubStatus;
use dormouse_engine::step::Transition;
use dormouse_engine::time::Timestamp;

use super::Burst;
use crate::port::{Happened, Metric};

/// What the measures of a burst depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since {
    /// When its lease was taken; `None` for one that creates its instance.
    pub(crate) leased: Option<Timestamp>,
    /// Whether the instance runs, as far as the last commit knows.
    pub(crate) is_active: bool,
}

impl Burst<'_> {
    /// Reports what a commit has made of the instance.
    pub(super) fn measure_commit(&mut self, transition: &Transition, timers: usize) {
        let runtime = self.runtime;
        if self
            .loaded
            .as_ref()
            .is_some_and(|loaded| loaded.head().commit == 1)
        {
            runtime.record(Metric::InstancesStarted, 1);
        }
        if timers > 0 {
            let timers = i64::try_from(timers).unwrap_or(i64::MAX);
            runtime.record(Metric::TimersScheduled, timers);
        }
        let is_active = !transition.instance.is_ended();
        if is_active != self.since.is_active {
            let more = if is_active { 1 } else { -1 };
            runtime.record(Metric::InstancesActiveChange, more);
        }
        self.since.is_active = is_active;
        if is_active {
            return;
        }
        let ended = match transition.instance.sub_status {
            SubStatus::Faulted => Metric::InstancesFaulted,
            SubStatus::Cancelled => Metric::InstancesCancelled,
            SubStatus::Finished
            | SubStatus::Pending
            | SubStatus::Executing
            | SubStatus::Interrupted
            | SubStatus::Suspended => Metric::InstancesCompleted,
        };
        runtime.record(ended, 1);
    }

    /// Tells whoever watches what a commit has made true.
    pub(super) fn tell_observer(&mut self, transition: &Transition) {
        let runtime = self.runtime;
        let (Some(observer), Some(loaded)) = (&runtime.ports().observer, &self.loaded) else {
            return;
        };
        let at = runtime.now();
        observer.happened(Happened {
            tenant: self.tenant,
            instance: &transition.instance,
            commit: loaded.head().commit,
            graph: &self.runnable.graph,
            lines: &transition.lines,
            journal: &transition.journal,
            since: self.last,
            at,
            cause: runtime.cause(),
        });
        self.last = at;
    }

    /// Reports how long it took. To be called once its last commit is done.
    pub(super) fn measure_end(&self) {
        let now = self.runtime.now();
        let began = self.since.leased.unwrap_or(self.began);
        self.runtime.record(Metric::BurstMs, now.0 - began.0);
        if let Some(leased) = self.since.leased {
            self.runtime.record(Metric::LeaseHeldMs, now.0 - leased.0);
        }
    }
}
