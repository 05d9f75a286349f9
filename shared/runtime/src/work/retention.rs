//! How long ended instances are kept.

use dormouse_engine::instance::SubStatus;
use dormouse_engine::time::Timestamp;
use dormouse_store::instance::expiry::Kept;

/// How long ended instances are kept, in days after their end; `None`: for ever. A change counts for instances that
/// end from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// Finished ones.
    pub finished_days: Option<u32>,
    /// Those that ended by failing.
    pub faulted_days: Option<u32>,
    /// Cancelled ones.
    pub cancelled_days: Option<u32>,
    /// Whether they are written to the blobs, under `archive/`, before they go.
    pub is_archived: bool,
}

impl Retention {
    /// How long an instance that ends now is kept.
    pub(crate) fn of(self, sub_status: SubStatus, now: Timestamp) -> Option<Kept> {
        let days = match sub_status {
            SubStatus::Faulted => self.faulted_days,
            SubStatus::Cancelled => self.cancelled_days,
            SubStatus::Finished
            | SubStatus::Pending
            | SubStatus::Executing
            | SubStatus::Suspended
            | SubStatus::Interrupted => self.finished_days,
        };
        Some(Kept {
            until_ms: now.plus_ms(i64::from(days?) * DAY_MS).0,
            is_archived: self.is_archived,
        })
    }
}

/// The milliseconds of a day.
const DAY_MS: i64 = 24 * 3_600_000;
