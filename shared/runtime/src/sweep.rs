//! The sweep: delivers what a crash left, continues what was interrupted, gives up on what has expired.

use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Rows of the outbox that were delivered.
    pub delivered: u32,
    /// Rows of the outbox that could not be delivered yet.
    pub left: u32,
    /// Rows of the outbox that became dead letters.
    pub given_up: u32,
    /// Kept stimuli that found a bookmark.
    pub matched: u32,
    /// Kept stimuli that expired and became dead letters.
    pub expired: u32,
}

impl Runtime {
    /// Sweeps once, over all tenants. To be called every minute, or every few seconds where it costs nothing;
    /// several nodes may do it at the same time.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] if the table could not be read; a delivery that fails is counted and tried again.
    pub async fn sweep(&self) -> Result<SweepReport, RuntimeError> {
        todo!()
    }
}
