//! What is due later.

use async_trait::async_trait;
use dormouse_store::table::Write;

use super::PortError;
use crate::work::timer::Timer;

/// Calls [`crate::Timers::fire`] when a timer is due, at least once, not before its time and soon after.
///
/// Scheduling the same timer again changes nothing. A timer whose reason is gone may still fire: that is a no-op.
#[async_trait]
pub trait Scheduler: Send + Sync + 'static {
    /// Promises to fire the timer. When it returns, the promise outlives this process.
    async fn schedule(&self, timer: &Timer) -> Result<(), PortError>;

    /// The write that schedules the timer, where the timers lie in the same table as the instances: it becomes a
    /// part of the commit then, and [`Self::schedule`] is not called. `None`: they lie elsewhere.
    ///
    /// # Errors
    ///
    /// [`PortError`] if the timer cannot be written down.
    fn schedule_write(&self, timer: &Timer) -> Result<Option<Write>, PortError> {
        let _ = timer;
        Ok(None)
    }

    /// The write that forgets the timer, likewise. Forgetting one that is not there is fine.
    ///
    /// # Errors
    ///
    /// [`PortError`] if the timer cannot be written down.
    fn forget_write(&self, timer: &Timer) -> Result<Option<Write>, PortError> {
        let _ = timer;
        Ok(None)
    }

    /// Whether the timers lie in the table, where they can be listed.
    fn lies_in_table(&self) -> bool {
        false
    }

    /// A timer of [`Self::schedule_write`] has been committed. A hint: whoever sleeps until the next timer wakes up.
    fn committed(&self, timer: &Timer) {
        let _ = timer;
    }

    /// Forgets a timer that has fired or is not wanted any more.
    async fn forget(&self, timer: &Timer) -> Result<(), PortError>;
}
