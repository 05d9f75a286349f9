//! Firing a timer that is due.

use crate::error::RuntimeError;
use crate::report::BurstReport;
use crate::runtime::Runtime;
use crate::timer::Timer;

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
        let _ = timer;
        todo!()
    }
}
