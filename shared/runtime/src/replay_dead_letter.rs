//! Dead letters: what was given up on, to be listed, replayed and deleted.

use dormouse_store::Tenant;
use dormouse_store::dead_letter::{DeadLetter, DeadLetterPage, Letter};

use crate::error::RuntimeError;
use crate::message::{Message, Task};
use crate::parcel::Parcel;
use crate::port::Metric;
use crate::runtime::Runtime;
use crate::stimulate::StimulusRequest;

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
        let Some(letter) = self.store().dead_letter(tenant, id).await? else {
            return Ok(false);
        };
        let messages = match letter.letter {
            Letter::Effects { effects, .. } => effects
                .iter()
                .map(|effect| Message::decode(&effect.body))
                .collect::<Result<Vec<_>, _>>()?,
            Letter::Message(body) => vec![Message::decode(&body)?],
            Letter::Stimulus { stimulus, .. } => vec![Message {
                id: format!("replay/{id}"),
                tenant: tenant.clone(),
                task: Task::Stimulate {
                    stimulus: StimulusRequest {
                        at: self.now(),
                        ..StimulusRequest::of_kept(stimulus)?
                    },
                },
            }],
        };
        let effects: Result<Vec<_>, _> = messages.iter().map(Message::effect).collect();
        let now = self.now();
        let replayed = self
            .store()
            .replay_dead_letter(tenant, id, now.0, &effects?)
            .await?;
        let Some(keys) = replayed else {
            return Ok(false);
        };
        self.post(Parcel {
            keys,
            messages,
            forget: Vec::new(),
        })
        .await;
        Ok(true)
    }

    /// Makes a dead letter of a message that a queue has delivered too often.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn give_up(&self, message: &Message, reason: &str) -> Result<(), RuntimeError> {
        let letter = DeadLetter {
            id: format!("{:013}-{}", self.now().0, message.id.replace('/', "-")),
            at_ms: self.now().0,
            reason: reason.to_owned(),
            attempts: 0,
            letter: Letter::Message(message.encode()?),
        };
        self.store()
            .put_dead_letter(&message.tenant, &letter)
            .await?;
        self.record(Metric::DeadLetters, 1);
        Ok(())
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
        Ok(self
            .store()
            .list_dead_letters(tenant, limit, cursor)
            .await?)
    }

    /// How many dead letters there are, looking at no more than `bound` of them.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn count_dead_letters(
        &self,
        tenant: &Tenant,
        bound: u64,
    ) -> Result<u64, RuntimeError> {
        Ok(self.store().count_dead_letters(tenant, bound).await?)
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
        Ok(self.store().dead_letter(tenant, id).await?)
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
        Ok(self.store().delete_dead_letter(tenant, id).await?)
    }
}
