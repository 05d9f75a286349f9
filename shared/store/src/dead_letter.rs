//! Dead letters: stimuli and effects that were given up on. Kept until somebody replays or deletes them.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::outbox::{Effect, OutboxKey};
use crate::queued_stimulus::QueuedStimulus;
use crate::store::Store;
use crate::tenant::Tenant;

/// Something that was given up on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Its id. Lists are in order of it, so begin it with the time.
    #[serde(skip)]
    pub id: String,
    /// When it was given up on, in ms since 1970.
    #[serde(rename = "t", default)]
    pub at_ms: i64,
    /// Why, in a word or two.
    #[serde(rename = "r", default)]
    pub reason: String,
    /// How often it was tried.
    #[serde(rename = "n", default)]
    pub attempts: u32,
    /// What it was.
    #[serde(rename = "l")]
    pub letter: Letter,
}

/// What was given up on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Letter {
    /// A stimulus that nothing waited for in time.
    #[serde(rename = "q")]
    Stimulus {
        /// The stimulus with its filter.
        #[serde(rename = "s")]
        stimulus: QueuedStimulus,
        /// Its id.
        #[serde(rename = "i")]
        id: String,
        /// Its hash.
        #[serde(rename = "h")]
        hash: String,
    },
    /// Effects that could not be delivered.
    #[serde(rename = "e")]
    Effects {
        /// Whose they were: the instance, or the id of the event.
        #[serde(rename = "s")]
        source: String,
        /// The commit that wrote them.
        #[serde(rename = "c")]
        commit: u64,
        /// What was to be done.
        #[serde(rename = "e")]
        effects: Vec<Effect>,
    },
    /// A message from outside that no instance could take; the runtime's own format.
    #[serde(rename = "m")]
    Message(Bytes),
}

/// One page of dead letters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeadLetterPage {
    /// The letters, newest first.
    pub letters: Vec<DeadLetter>,
    /// Where the next page begins.
    pub cursor: Option<String>,
}

impl Store {
    /// Stores a dead letter. One write; the same one twice is one.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_dead_letter(
        &self,
        tenant: &Tenant,
        letter: &DeadLetter,
    ) -> Result<(), StoreError> {
        let _ = (tenant, letter);
        todo!()
    }

    /// Stores a dead letter in place of the row of the outbox that it was. False: the row is gone. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn bury_outbox(
        &self,
        tenant: &Tenant,
        key: &OutboxKey,
        letter: &DeadLetter,
    ) -> Result<bool, StoreError> {
        let _ = (tenant, key, letter);
        todo!()
    }

    /// Makes dead letters of the queued stimuli that have expired, at most `limit`; answers how many. An atomic
    /// write for each, so that a stimulus is consumed or dead and never both.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn expire_stimuli(&self, now_ms: i64, limit: u32) -> Result<u32, StoreError> {
        let _ = (now_ms, limit);
        todo!()
    }

    /// The dead letters of a tenant, newest first. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn list_dead_letters(
        &self,
        tenant: &Tenant,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<DeadLetterPage, StoreError> {
        let _ = (tenant, limit, cursor);
        todo!()
    }

    /// How many dead letters a tenant has, at most `bound`.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn count_dead_letters(&self, tenant: &Tenant, bound: u64) -> Result<u64, StoreError> {
        let _ = (tenant, bound);
        todo!()
    }

    /// One dead letter. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn dead_letter(
        &self,
        tenant: &Tenant,
        id: &str,
    ) -> Result<Option<DeadLetter>, StoreError> {
        let _ = (tenant, id);
        todo!()
    }

    /// Deletes a dead letter. False: there was none. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_dead_letter(&self, tenant: &Tenant, id: &str) -> Result<bool, StoreError> {
        let _ = (tenant, id);
        todo!()
    }

    /// Deletes a dead letter and puts effects into the outbox in its place, in one atomic write: its own effects,
    /// or one that delivers its stimulus anew. `None`: there is no such letter any more.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn replay_dead_letter(
        &self,
        tenant: &Tenant,
        id: &str,
        now_ms: i64,
        effects: &[Effect],
    ) -> Result<Option<Vec<OutboxKey>>, StoreError> {
        let _ = (tenant, id, now_ms, effects);
        todo!()
    }
}
