//! Promises: what lies in a queue or in the outbox will be done.

use crate::error::RuntimeError;
use crate::outbox::Outbox;
use crate::outbox::batch::OutboxBatch;
use crate::runtime::config::Delivery;
use crate::work::message::Message;

impl Outbox<'_> {
    /// Promises to do what a message says: it lies in a queue or in the outbox when this returns.
    pub(crate) async fn accept(self, message: Message) -> Result<(), RuntimeError> {
        let batch = self.accept_batch(message).await?;
        self.post(batch).await;
        Ok(())
    }

    /// The same, but the caller carries it out. An empty batch: a queue has it.
    pub(crate) async fn accept_batch(self, message: Message) -> Result<OutboxBatch, RuntimeError> {
        if let Some(queue) = self
            .ports()
            .queue
            .as_ref()
            .filter(|_| message.task.is_work())
        {
            queue.send(&message, 0).await.map_err(RuntimeError::Queue)?;
            return Ok(OutboxBatch::default());
        }
        self.accept_in_outbox(message).await
    }

    /// The same in the outbox, where a queue would deliver what the caller is about to do anyway.
    pub(crate) async fn accept_in_outbox(
        self,
        message: Message,
    ) -> Result<OutboxBatch, RuntimeError> {
        let effects = [message.effect()?];
        let (tenant, now) = (message.tenant.clone(), self.now());
        let mut attempt = 1;
        let keys = loop {
            // Put twice it is delivered twice, which changes nothing.
            match self
                .store()
                .outbox()
                .put(&tenant, &message.id, now.0, &effects)
                .await
            {
                Err(error) if error.is_busy() || error.is_unknown() => {
                    if !self.back_off(attempt).await {
                        return Err(error.into());
                    }
                    attempt += 1;
                }
                keys => break keys?,
            }
        };
        Ok(OutboxBatch {
            keys,
            messages: vec![message],
            forget: Vec::new(),
        })
    }

    /// Carries a batch out beside the caller, or before it returns where nothing runs after that.
    pub(crate) async fn post(self, batch: OutboxBatch) {
        if batch.is_empty() {
            return;
        }
        let work = self.carry_out(batch);
        match self.config().delivery {
            Delivery::Background => self.ports().background.spawn(work),
            Delivery::Inline => work.await,
        }
    }
}
