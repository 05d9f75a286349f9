//! What a sweep did.

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Rows of the outbox that were delivered.
    pub delivered: u32,
    /// Rows of the outbox that could not be delivered yet.
    pub left: u32,
    /// Rows of the outbox that became dead letters.
    pub given_up: u32,
    /// Queued stimuli that found a bookmark.
    pub matched: u32,
    /// Queued stimuli that expired and became dead letters.
    pub expired: u32,
    /// Ended instances that were removed because their time has come.
    pub removed: u32,
}

impl SweepReport {
    /// Adds what was done in one shard.
    pub(super) fn add(&mut self, shard: Self) {
        self.delivered += shard.delivered;
        self.left += shard.left;
        self.given_up += shard.given_up;
    }
}
