//! When things recur: cron expressions and recurring triggers, by nominal time in an IANA zone.
//!
//! Nothing here knows what time it is. The next occurrence is always worked out from a nominal one, never from when
//! somebody happened to look, so a late wake-up moves nothing.

pub mod cron;
mod field;
pub mod occurrence;
pub mod recurrence;
pub mod zone;

pub use cron::{Cron, CronError};
pub use recurrence::Recurrence;
