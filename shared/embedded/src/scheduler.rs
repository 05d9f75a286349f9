//! Timers that lie in the table itself: they become part of the commit that sets them, and nothing is scheduled
//! twice or lost. What fires them is [`crate::TimerDriver`].

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use dormouse_runtime::Timer;
use dormouse_runtime::port::{PortError, Scheduler};
use dormouse_store::Store;
use dormouse_store::stimulus::timer::Timer as Row;
use dormouse_store::table::Write;
use tokio::sync::Notify;

use crate::pace::Pace;

/// Timers in the table of a store. Clones wake the same driver.
#[derive(Clone)]
pub struct TableScheduler {
    store: Store,
    alarm: Arc<Alarm>,
    pace: Arc<Pace>,
}

/// When the driver means to look next, and how to make it look earlier.
#[derive(Debug)]
pub(crate) struct Alarm {
    next_ms: AtomicI64,
    changed: Notify,
}

impl Alarm {
    fn new() -> Self {
        Self {
            next_ms: AtomicI64::new(i64::MAX),
            changed: Notify::new(),
        }
    }

    /// The driver is about to look at the table: whatever is set from now on must wake it.
    pub(crate) fn forget(&self) {
        self.next_ms.store(i64::MAX, Ordering::SeqCst);
    }

    /// The driver sleeps until this time, unless something earlier was set since [`Self::forget`].
    pub(crate) fn set(&self, at_ms: i64) {
        self.next_ms.fetch_min(at_ms, Ordering::SeqCst);
    }

    /// Something is due at this time: wakes the driver if it would sleep longer.
    pub(crate) fn due(&self, at_ms: i64) {
        if self.next_ms.fetch_min(at_ms, Ordering::SeqCst) > at_ms {
            self.changed.notify_one();
        }
    }

    /// Returns when something earlier was set.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl TableScheduler {
    /// Timers in the table of the store, which no other process has.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self::with(store, Pace::Alone)
    }

    /// Timers in the table of the store, which other processes may have too. `seed`: a random number of this
    /// process.
    #[must_use]
    pub fn shared(store: Store, seed: u64) -> Self {
        Self::with(store, Pace::shared(seed))
    }

    fn with(store: Store, pace: Pace) -> Self {
        Self {
            store,
            alarm: Arc::new(Alarm::new()),
            pace: Arc::new(pace),
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    pub(crate) fn pace(&self) -> &Pace {
        &self.pace
    }

    fn is_set(&self, timer: &Timer) {
        self.pace.set(timer);
        self.alarm.due(timer.due.0);
    }
}

fn row(timer: &Timer) -> Result<Row, PortError> {
    Ok(Row {
        tenant: timer.tenant.clone(),
        id: timer.id(),
        due_ms: timer.due.0,
        body: serde_json::to_vec(timer)?.into(),
    })
}

#[async_trait]
impl Scheduler for TableScheduler {
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError> {
        self.store.timers().set_timer(&row(timer)?).await?;
        self.is_set(timer);
        Ok(())
    }

    fn schedule_write(&self, timer: &Timer) -> Result<Option<Write>, PortError> {
        Ok(Some(self.store.timers().timer_write(&row(timer)?)?))
    }

    fn forget_write(&self, timer: &Timer) -> Result<Option<Write>, PortError> {
        Ok(Some(self.store.timers().timer_clearing(&row(timer)?)?))
    }

    fn lies_in_table(&self) -> bool {
        true
    }

    fn committed(&self, timer: &Timer) {
        self.is_set(timer);
    }

    async fn forget(&self, timer: &Timer) -> Result<(), PortError> {
        Ok(self.store.timers().clear_timers(&[row(timer)?]).await?)
    }
}
