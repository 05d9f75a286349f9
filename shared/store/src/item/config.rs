//! The sizes and numbers of a store. They may differ from run to run over the same table, but for the counts of
//! shards: those may only grow.

use crate::table::Durability;

/// How long it is remembered which recipients a stimulus has had and whether it was taken, in ms: longer than a queue or
/// the outbox delivers it again.
pub const REMEMBERED_MS: i64 = 24 * 3_600_000;

/// How the store lays things out.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// Bytes of this size and over are compressed.
    pub compress_from: usize,
    /// A state up to this size lies in the head, in bytes; a larger one does if it packs to this size.
    pub state_inline_max: usize,
    /// A packed state up to this size lies in an item of its own, in bytes; a larger one goes to the blobs.
    pub state_item_max: usize,
    /// The largest state at all, in bytes, unpacked.
    pub state_max: usize,
    /// Journal lines up to this size ride in the head, in bytes, unpacked.
    pub journal_inline_max: usize,
    /// How many partitions the outbox and the expiry list have, 1 to 99.
    pub outbox_shards: u16,
    /// How many partitions the list of a definition's instances has, 1 to 99.
    pub list_shards: u16,
    /// The sub-statuses of which there is a list for each definition; `None`: each. A list costs a write unit or two on
    /// DynamoDB for each instance that comes into it or leaves it.
    pub listed_statuses: Option<&'static [&'static str]>,
    /// How many partitions the timers have, 1 to 99, where they lie in the table.
    pub timer_shards: u16,
    /// Whether an atomic write costs no more than its parts: then the rows that a commit prepares are written together
    /// with the head, where they fit. Else they are put before it, one by one at half the price.
    pub commits_whole: bool,
    /// How long-lived a lease is. `Ordered` only where the table dies with all who hold leases.
    pub lease_durability: Durability,
    /// At most this many items are looked at for one page of a filtered list.
    pub list_work_max: usize,
    /// At most this many items are looked at to find a page by its number and to count all matches.
    pub find_work_max: usize,
    /// How long a tombstone stays, in seconds. Longer than any message may be late.
    pub tombstone_s: i64,
    /// At most this many writes in one atomic write, 10 to 100. Lower only in tests of splitting.
    pub writes_max: usize,
}

impl StoreConfig {
    /// For DynamoDB: bytes cost money there, and a partition has a greatest rate.
    #[must_use]
    pub fn dynamo() -> Self {
        Self {
            compress_from: 256,
            state_inline_max: 8 * 1_024,
            state_item_max: 300 * 1_024,
            state_max: 8 * 1_024 * 1_024,
            journal_inline_max: 4 * 1_024,
            outbox_shards: 16,
            list_shards: 4,
            listed_statuses: Some(&["Faulted"]),
            timer_shards: 4,
            commits_whole: false,
            lease_durability: Durability::Durable,
            list_work_max: 2_000,
            find_work_max: 100_000,
            tombstone_s: 30 * 24 * 3_600,
            writes_max: 100,
        }
    }

    /// For a table in the same process: processor time costs more than bytes.
    #[must_use]
    pub fn embedded() -> Self {
        Self {
            compress_from: 16 * 1_024,
            state_inline_max: 16 * 1_024,
            journal_inline_max: 8 * 1_024,
            outbox_shards: 1,
            list_shards: 1,
            listed_statuses: None,
            timer_shards: 1,
            commits_whole: true,
            lease_durability: Durability::Ordered,
            list_work_max: 20_000,
            find_work_max: 5_000_000,
            ..Self::dynamo()
        }
    }

    /// Whether there is a list of the instances with the sub-status.
    pub(crate) fn lists_status(&self, sub_status: &str) -> bool {
        self.listed_statuses
            .is_none_or(|listed| listed.contains(&sub_status))
    }
}
