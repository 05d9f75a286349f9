//! Opening an instance for a burst, waiting a bounded time for whoever holds its lease.

use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::instance::lease::{Loaded, Open, Opened};
use dormouse_store::item::backoff::Backoff;

use crate::error::RuntimeError;
use crate::kernel::Kernel;
use crate::port::Metric;

/// How long to wait for a lease before asking again: bursts take milliseconds.
const PATIENCE: Backoff = Backoff {
    attempts_max: u32::MAX,
    first_ms: 4,
    wait_max_ms: 250,
};

impl Kernel<'_> {
    /// Opens an instance: by a read, or by taking its lease. Answers since when.
    pub(crate) async fn open(
        self,
        tenant: &Tenant,
        instance_id: &str,
        reopens: bool,
        takes_lease: bool,
    ) -> Result<(Opened, Timestamp), RuntimeError> {
        let config = self.config();
        let clock = &self.ports().clock;
        let owner = self.owner();
        let asked = self.now();
        let deadline = asked.plus_ms(self.within_ms(config.wait_ms_max));
        let (mut waits, mut failures) = (0, 0);
        loop {
            let now = self.now();
            let open = Open {
                instance_id,
                owner: &owner,
                now_ms: now.0,
                reopens,
            };
            let until_ms = self.lease_until(now).0;
            let store = self.store();
            let mut opened = match takes_lease {
                true => store.leases().lease(tenant, &open, until_ms).await,
                false => store.leases().open(tenant, &open).await,
            };
            if takes_lease && opened.as_ref().is_err_and(|error| error.is_unknown()) {
                // The same call again finds the lease, if it is ours.
                opened = store.leases().lease(tenant, &open, until_ms).await;
            }
            match opened {
                Ok(Opened::Busy { until_ms }) => {
                    if waits == 0 {
                        self.record(Metric::LeaseContended, 1);
                    }
                    if now >= deadline {
                        return Err(self.gave_up(tenant, instance_id, asked, until_ms));
                    }
                    waits += 1;
                    let left = u64::try_from(deadline.0 - now.0).unwrap_or(0).max(1);
                    let wait = PATIENCE.wait_ms(waits, clock.random()).max(1);
                    clock.sleep(wait.min(left)).await;
                }
                Ok(Opened::Loaded(loaded)) => {
                    if takes_lease {
                        self.took(tenant, &loaded, asked);
                    }
                    return Ok((Opened::Loaded(loaded), now));
                }
                Ok(opened) => return Ok((opened, now)),
                Err(error) if error.is_busy() || error.is_unknown() => {
                    failures += 1;
                    if !self.back_off(failures).await {
                        return Err(error.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Says that a lease was waited for in vain.
    fn gave_up(
        self,
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
    fn took(self, tenant: &Tenant, loaded: &Loaded, asked: Timestamp) {
        let wait_ms = self.now().0 - asked.0;
        self.record(Metric::LeaseWaitMs, wait_ms);
        let (instance, fence) = (loaded.instance_id(), loaded.head().fence);
        tracing::info!(%tenant, instance, fence, wait_ms, "lease acquired");
    }
}
