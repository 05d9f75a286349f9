//! Timers that are due, of instances and of triggers.

pub(crate) mod fire;
pub(crate) mod fire_occurrence;
pub(crate) mod schedules;

use crate::runtime::handle::handle;

handle!(
    /// Timers and occurrences that are due.
    pub Timers,
    timers
);
