//! What waits for stimuli, stimuli that wait, and timers.

pub mod bookmark;
pub mod chain;
mod merged;
pub mod queued_stimulus;
pub mod recipients;
pub mod stimuli;
pub mod task;
pub mod timer;

use crate::store::handle::handle;

handle!(
    /// Bookmarks and triggers by hash, and queued stimuli.
    pub Stimuli,
    stimuli
);

handle!(
    /// Chains of recurring triggers.
    pub Chains,
    chains
);

handle!(
    /// Timers in the table.
    pub Timers,
    timers
);
