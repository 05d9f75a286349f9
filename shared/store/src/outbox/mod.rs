//! Effects until they are delivered, and those that never will be.

pub mod dead_letter;
pub mod row;

use crate::store::handle::handle;

handle!(
    /// Effects until they are delivered.
    pub Outbox,
    outbox
);

handle!(
    /// Messages that cannot be delivered.
    pub DeadLetters,
    dead_letters
);
