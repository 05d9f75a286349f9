//! Doing what a message says.

use crate::error::RuntimeError;
use crate::message::Message;
use crate::runtime::Runtime;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// It is done, or was done before, or there is nothing to do any more. Delete it.
    Done,
    /// It cannot be done yet. Deliver it again after a pause.
    Later,
}

impl Runtime {
    /// Does what a message says. Doing it twice changes nothing.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. Deliver it again then; after a number of attempts, [`Self::give_up`].
    pub async fn deliver(&self, message: &Message) -> Result<Delivered, RuntimeError> {
        let _ = message;
        todo!()
    }
}
