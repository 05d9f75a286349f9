//! Dead letters: what was given up on, to be listed, replayed and deleted.

use dormouse_store::Tenant;
use dormouse_store::dead_letter::{DeadLetter, DeadLetterPage};

use crate::error::RuntimeError;
use crate::message::Message;
use crate::runtime::Runtime;

impl Runtime {
    /// Delivers a dead letter anew, in place of it. False: there is no such letter.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn replay_dead_letter(
        &self,
        tenant: &Tenant,
        id: &str,
    ) -> Result<bool, RuntimeError> {
        let _ = (tenant, id);
        todo!()
    }

    /// Makes a dead letter of a message that a queue has delivered too often.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn give_up(&self, message: &Message, reason: &str) -> Result<(), RuntimeError> {
        let _ = (message, reason);
        todo!()
    }

    /// The dead letters, newest first.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn dead_letters(
        &self,
        tenant: &Tenant,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<DeadLetterPage, RuntimeError> {
        let _ = (tenant, limit, cursor);
        todo!()
    }

    /// One dead letter.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn dead_letter(
        &self,
        tenant: &Tenant,
        id: &str,
    ) -> Result<Option<DeadLetter>, RuntimeError> {
        let _ = (tenant, id);
        todo!()
    }

    /// Deletes a dead letter. False: there was none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete_dead_letter(
        &self,
        tenant: &Tenant,
        id: &str,
    ) -> Result<bool, RuntimeError> {
        let _ = (tenant, id);
        todo!()
    }
}
