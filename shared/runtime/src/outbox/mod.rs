//! Effects on their way: rows of the outbox, held while they are delivered and deleted after it. Where a message leads is
//! not known here: the port [`Outgoing`](crate::runtime::outgoing::Outgoing) takes it.

pub(crate) mod accept;
pub(crate) mod batch;

use crate::runtime::handle::handle;

handle!(
    /// Effects that lie in the outbox until they are delivered.
    pub(crate) Outbox,
    outbox
);
