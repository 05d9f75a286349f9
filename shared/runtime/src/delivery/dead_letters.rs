//! Dead letters: what was given up on, to be listed, replayed and deleted.

use bytes::Bytes;
use dormouse_store::Tenant;
use dormouse_store::item::config::REMEMBERED_MS;
use dormouse_store::outbox::dead_letter::{DeadLetter, DeadLetterPage, Letter};

use crate::delivery::DeadLetters;
use crate::error::RuntimeError;
use crate::outbox::batch::OutboxBatch;
use crate::port::Metric;
use crate::work::message::{Message, Task};
use crate::work::stimulus::StimulusRequest;

/// Outcome of a request to replay a dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replay {
    /// It is delivered anew and no dead letter any more.
    Done,
    /// There is no such letter.
    Missing,
    /// It may hold a stimulus that some of its recipients have had, so long ago that it is not known any more which.
    /// Nothing happened.
    Forgotten {
        /// The id of the stimulus.
        stimulus: String,
    },
}

impl DeadLetters<'_> {
    /// Delivers a dead letter anew, in place of it. A stimulus that came more than [`REMEMBERED_MS`] ago and may have
    /// reached some of its recipients is delivered only if it `may_repeat`.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn replay(
        self,
        tenant: &Tenant,
        id: &str,
        may_repeat: bool,
    ) -> Result<Replay, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        let Some(letter) = self.store().dead_letters().get(tenant, id).await? else {
            return Ok(Replay::Missing);
        };
        let mut messages = match letter.letter {
            Letter::Effects { effects, .. } => effects
                .iter()
                .map(|effect| Message::decode(&effect.body))
                .collect::<Result<Vec<_>, _>>()?,
            Letter::Message(body) => vec![Message::decode(&body)?],
            Letter::Stimulus { stimulus, .. } => {
                let stimulus = StimulusRequest {
                    at: self.now(),
                    ..StimulusRequest::of_queued(stimulus)?
                };
                let task = Task::Stimulate { stimulus };
                vec![Message::new(format!("replay/{id}"), tenant.clone(), task)]
            }
        };
        let remembered_since = self.now().plus_ms(-REMEMBERED_MS);
        let forgotten = messages.iter().find_map(|message| {
            let (Task::Stimulate { stimulus } | Task::StimulateOn { stimulus, .. }) = &message.task
            else {
                return None;
            };
            (stimulus.at < remembered_since).then(|| stimulus.id.clone())
        });
        if let (Some(stimulus), false) = (forgotten, may_repeat) {
            return Ok(Replay::Forgotten { stimulus });
        }
        // Somebody decided that they go on.
        for message in &mut messages {
            message.hops = 0;
        }
        let effects: Result<Vec<_>, _> = messages.iter().map(Message::effect).collect();
        let now = self.now();
        let replayed = self
            .store()
            .dead_letters()
            .replay(tenant, id, now.0, &effects?)
            .await?;
        let Some(keys) = replayed else {
            return Ok(Replay::Missing);
        };
        self.outbox()
            .post(OutboxBatch {
                keys,
                messages,
                forget: Vec::new(),
            })
            .await;
        Ok(Replay::Done)
    }

    /// Makes a dead letter of a message that cannot be delivered; a burst that cannot go on becomes a failure of its
    /// instance instead.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn give_up(self, message: &Message, reason: &str) -> Result<(), RuntimeError> {
        if let Task::Continue { instance, .. } = &message.task {
            return self
                .kernel()
                .fail_stuck(&message.tenant, instance, reason)
                .await;
        }
        self.put_message(&message.tenant, &message.id, message.encode()?, reason)
            .await
    }

    /// Makes a dead letter of a message whose text nobody can read.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn give_up_unreadable(
        self,
        tenant: &Tenant,
        id: &str,
        text: &str,
        reason: &str,
    ) -> Result<(), RuntimeError> {
        let body = Bytes::copy_from_slice(text.as_bytes());
        self.put_message(tenant, id, body, reason).await
    }

    async fn put_message(
        self,
        tenant: &Tenant,
        id: &str,
        body: Bytes,
        reason: &str,
    ) -> Result<(), RuntimeError> {
        let letter = DeadLetter {
            id: format!("{:013}-{}", self.now().0, id.replace('/', "-")),
            at_ms: self.now().0,
            reason: reason.to_owned(),
            attempts: 0,
            letter: Letter::Message(body),
        };
        self.store().dead_letters().put(tenant, &letter).await?;
        self.record(Metric::DeadLetters, 1);
        Ok(())
    }

    /// The dead letters, newest first.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn list(
        self,
        tenant: &Tenant,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<DeadLetterPage, RuntimeError> {
        Ok(self
            .store()
            .dead_letters()
            .list(tenant, limit, cursor)
            .await?)
    }

    /// How many dead letters there are, looking at no more than `bound` of them.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn count(self, tenant: &Tenant, bound: u64) -> Result<u64, RuntimeError> {
        Ok(self.store().dead_letters().count(tenant, bound).await?)
    }

    /// One dead letter.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn get(self, tenant: &Tenant, id: &str) -> Result<Option<DeadLetter>, RuntimeError> {
        Ok(self.store().dead_letters().get(tenant, id).await?)
    }

    /// Deletes a dead letter. False: there was none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete(self, tenant: &Tenant, id: &str) -> Result<bool, RuntimeError> {
        Ok(self.store().dead_letters().delete(tenant, id).await?)
    }
}
