//! Instances: heads, states, journals, commits and their stamps, leases, lists and expiry.

pub(crate) mod attribute;
pub mod clean;
pub mod commit;
pub mod create;
pub mod expiry;
pub(crate) mod filter;
pub mod find;
pub mod head;
pub(crate) mod head_changes;
pub mod idempotency;
pub mod journal;
pub mod lease;
pub mod list;
pub(crate) mod partitions;
pub(crate) mod plan;
pub mod predecessor;
pub(crate) mod read;
pub(crate) mod seen;
pub(crate) mod send;
pub mod stamp;
pub(crate) mod state;
pub mod uniqueness;
pub(crate) mod walk;

use crate::store::handle::handle;

handle!(
    /// Instances: reads, lists, journals, expiry and deletion.
    pub Instances,
    instances
);

handle!(
    /// Commits of instances, and the stamps by which they are judged.
    pub Commits,
    commits
);

handle!(
    /// Opening an instance for a burst, and its lease.
    pub Leases,
    leases
);
