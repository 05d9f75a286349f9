//! Taking the lease of an instance, waiting a bounded time for whoever has it.

use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::backoff::Backoff;
use dormouse_store::lease::{Acquire, Acquired, Lease, Wanted};

use crate::error::RuntimeError;
use crate::port::Metric;
use crate::resume::ResumeOutcome;
use crate::runtime::Runtime;

/// How long to wait for a lease before asking again: bursts take milliseconds.
const PATIENCE: Backoff = Backoff {
    attempts_max: u32::MAX,
    first_ms: 4,
    wait_max_ms: 250,
};

/// What to take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taking<'a> {
    pub(crate) instance_id: &'a str,
    /// The bookmark that must be open, and the commit that opens it.
    pub(crate) bookmark: Option<(&'a str, u64)>,
    pub(crate) event_id: Option<&'a str>,
    pub(crate) reopens: bool,
}

/// What became of it.
pub(crate) enum Taken {
    /// It is ours, since this time.
    Lease(Box<Lease>, Timestamp),
    /// There is nothing to work on.
    Not(ResumeOutcome),
}

impl Runtime {
    /// Takes the lease of an instance.
    pub(crate) async fn take(
        &self,
        tenant: &Tenant,
        taking: Taking<'_>,
    ) -> Result<Taken, RuntimeError> {
        let config = self.config();
        let clock = &self.ports().clock;
        let owner = self.owner();
        let asked = self.now();
        let deadline = asked.plus_ms(self.within_ms(config.wait_ms_max));
        let (mut waits, mut failures) = (0, 0);
        loop {
            let now = self.now();
            let acquire = Acquire {
                instance_id: taking.instance_id,
                owner: &owner,
                now_ms: now.0,
                until_ms: self.lease_until(now).0,
                wanted: taking.bookmark.map(|(bookmark_id, commit)| Wanted {
                    bookmark_id,
                    commit,
                }),
                reopens: taking.reopens,
                event_id: taking.event_id,
            };
            let mut acquired = self.store().acquire(tenant, &acquire).await;
            if acquired.as_ref().is_err_and(|error| error.is_unknown()) {
                // The same call again finds the lease, if it is ours.
                acquired = self.store().acquire(tenant, &acquire).await;
            }
            let not = match acquired {
                Ok(Acquired::Lease(lease)) => {
                    self.took(tenant, &lease, asked);
                    return Ok(Taken::Lease(lease, now));
                }
                Ok(Acquired::Gone(head)) => ResumeOutcome::BookmarkGone(head),
                Ok(Acquired::Seen(head)) => ResumeOutcome::Seen(head),
                Ok(Acquired::NotYet(head)) => ResumeOutcome::NotYet(head),
                Ok(Acquired::Ended(head)) => ResumeOutcome::Ended(head),
                Ok(Acquired::Deleted) => ResumeOutcome::Deleted,
                Ok(Acquired::NotFound) => ResumeOutcome::NotFound,
                // What an interrupted create left: the instance was never there.
                Ok(Acquired::Busy {
                    until_ms,
                    head: None,
                }) if until_ms < now.0 => ResumeOutcome::NotFound,
                Ok(Acquired::Busy { until_ms, .. }) => {
                    if waits == 0 {
                        self.record(Metric::LeaseContended, 1);
                    }
                    if now >= deadline {
                        return Err(self.gave_up(tenant, taking.instance_id, asked, until_ms));
                    }
                    waits += 1;
                    let left = u64::try_from(deadline.0 - now.0).unwrap_or(0).max(1);
                    let wait = PATIENCE.wait_ms(waits, clock.random()).max(1);
                    clock.sleep(wait.min(left)).await;
                    continue;
                }
                Err(error) if error.is_busy() || error.is_unknown() => {
                    failures += 1;
                    if !self.back_off(failures).await {
                        return Err(error.into());
                    }
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            return Ok(Taken::Not(not));
        }
    }

    /// Says that a lease was waited for in vain.
    fn gave_up(
        &self,
        tenant: &Tenant,
        instance: &str,
        asked: Timestamp,
        until_ms: i64,
    ) -> RuntimeError {
        let wait_ms = self.now().0 - asked.0;
        self.record(Metric::LeaseFailed, 1);
        tracing::info!(%tenant, instance, wait_ms, "resume already in progress");
        RuntimeError::InProgress {
            instance_id: instance.to_owned(),
            until_ms,
        }
    }

    /// Says that a lease was taken, and how long it was waited for.
    fn took(&self, tenant: &Tenant, lease: &Lease, asked: Timestamp) {
        let wait_ms = self.now().0 - asked.0;
        self.record(Metric::LeaseWaitMs, wait_ms);
        let (instance, fence) = (lease.instance_id(), lease.fence());
        tracing::info!(%tenant, instance, fence, wait_ms, "lease acquired");
    }
}
