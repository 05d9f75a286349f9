//! Promises: what lies in a queue or in the outbox will be done.

use crate::error::RuntimeError;
use crate::outbox::Outbox;
use crate::outbox::batch::OutboxBatch;
use crate::port::Share;
use crate::runtime::config::Delivery;
use crate::work::definition_handle::DefinitionHandle;
use crate::work::message::{Message, Task};

/// Whose turn it is when the batch is carried out.
fn share(batch: &OutboxBatch) -> Share {
    let Some(Message { tenant, task, .. }) = batch.messages.first() else {
        return Share::new("", "");
    };
    let of = match task {
        Task::Start { definition, .. } => match definition {
            DefinitionHandle::Definition { id, .. } | DefinitionHandle::Version { id } => {
                id.clone()
            }
        },
        Task::Stimulate { stimulus } | Task::StimulateOn { stimulus, .. } => stimulus.hash.clone(),
        Task::StartBuffered { definition_id, .. } => definition_id.clone(),
        Task::Perform { activity_type, .. } => activity_type.clone(),
        Task::StartChild { child } => child.definition_id.clone(),
        Task::Continue { .. }
        | Task::Fire { .. }
        | Task::Resume { .. }
        | Task::RequestTask { .. }
        | Task::Tell { .. }
        | Task::Cancel { .. }
        | Task::CallInBackground { .. }
        | Task::CleanDeleted { .. }
        | Task::ScheduleTriggers(_)
        | Task::UpdateConsumers(_)
        | Task::CarryOutPlan { .. } => String::new(),
    };
    Share::new(tenant.as_str(), &of)
}

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
        let share = share(&batch);
        let work = self.carry_out(batch);
        match self.config().delivery {
            Delivery::Background => self.ports().background.queue(share, work),
            Delivery::Inline => work.await,
        }
    }
}
