//! Messages on their way: delivered, kept in the outbox, or given up as dead letters.

pub(crate) mod dead_letters;
pub(crate) mod deliver;
mod outgoing;

use crate::runtime::handle::handle;

handle!(
    /// Delivery of messages and of what lies in the outbox.
    pub Deliveries,
    delivery
);

handle!(
    /// Messages that cannot be delivered.
    pub DeadLetters,
    dead_letters
);
