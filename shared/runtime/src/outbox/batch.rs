//! What a commit sends out: its effects as messages, with the rows of the outbox that stand for them until they
//! are delivered.

use dormouse_store::outbox::row::OutboxKey;
use futures_util::future::BoxFuture;

use crate::beside::beside;
use crate::error::RuntimeError;
use crate::outbox::Outbox;
use crate::port::Metric;
use crate::work::delivered::Delivered;
use crate::work::message::Message;
use crate::work::timer::Timer;

/// What a commit sends out.
#[derive(Debug, Default)]
pub(crate) struct OutboxBatch {
    /// The rows of the outbox; deleted when all is delivered.
    pub(crate) keys: Vec<OutboxKey>,
    /// What is in them.
    pub(crate) messages: Vec<Message>,
    /// Timers that are not wanted any more. They would be no-ops, so nothing depends on it.
    pub(crate) forget: Vec<Timer>,
}

/// Messages that could not be delivered now.
#[derive(Debug, Default)]
pub(crate) struct Unsent {
    pub(crate) messages: Vec<Message>,
    /// Whether one of them failed, rather than had to wait for others.
    pub(crate) has_failed: bool,
}

impl OutboxBatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.forget.is_empty()
    }
}

impl Outbox<'_> {
    /// Delivers a batch and deletes its rows. What fails stays in the outbox for the sweep.
    pub(crate) fn carry_out(self, batch: OutboxBatch) -> BoxFuture<'static, ()> {
        let runtime = self.0.clone();
        Box::pin(async move {
            for timer in &batch.forget {
                if let Err(cause) = runtime.ports().scheduler.forget(timer).await {
                    tracing::debug!(timer = timer.id(), cause = %cause, "a timer that nobody waits for stays");
                }
            }
            if batch.messages.is_empty() || !runtime.outbox().hold(&batch).await {
                return;
            }
            let left = runtime.outbox().send_all(batch.messages).await;
            if let Err(cause) = runtime.outbox().tidy(&batch.keys, left.messages).await {
                tracing::debug!(cause = %cause, "delivered effects stay in the outbox and are delivered again");
            }
        })
    }

    /// Sets timers that lie outside the table, beside each other. One that is refused is tried again by itself:
    /// a commit with many would else hardly ever get through at a busy scheduler.
    pub(crate) async fn schedule_all(self, timers: &[Timer]) -> Result<(), RuntimeError> {
        let most = self.config().deliveries_parallel_max;
        let set = beside(timers, most, |timer| Box::pin(self.schedule(timer))).await;
        let set: Result<Vec<()>, _> = set.into_iter().collect();
        set.map(drop)
    }

    async fn schedule(self, timer: &Timer) -> Result<(), RuntimeError> {
        let mut attempt = 1;
        loop {
            match self.ports().scheduler.schedule(timer).await {
                Ok(()) => return Ok(()),
                Err(cause) if !self.wait_after(attempt).await => {
                    return Err(RuntimeError::Scheduler(cause));
                }
                Err(_) => attempt += 1,
            }
        }
    }

    /// Delivers messages beside each other; answers those that are left.
    pub(crate) async fn send_all(self, messages: Vec<Message>) -> Unsent {
        let count = messages.len();
        // Made one by one as there is room for them: a commit may have ten thousand effects.
        let most = self.config().deliveries_parallel_max;
        let left = beside(messages, most, |message| {
            Box::pin(self.send_or_keep(message))
        })
        .await;
        let mut unsent = Unsent::default();
        for (message, has_failed) in left.into_iter().flatten() {
            unsent.messages.push(message);
            unsent.has_failed |= has_failed;
        }
        let delivered = i64::try_from(count - unsent.messages.len()).unwrap_or(i64::MAX);
        self.record(Metric::OutboxDelivered, delivered);
        unsent
    }

    /// Delivers a message, and answers it if it is left, and whether that counts as a failed attempt.
    async fn send_or_keep(self, message: Message) -> Option<(Message, bool)> {
        match self.send(&message).await {
            Ok(Delivered::Done) => None,
            Ok(Delivered::Later | Delivered::Paused) => Some((message, false)),
            Ok(Delivered::Missing) => Some((message, true)),
            Ok(Delivered::Never(reason)) => {
                match self.outgoing().give_up(self.0, &message, reason).await {
                    Ok(()) => None,
                    Err(_) => Some((message, true)),
                }
            }
            Err(cause) => {
                tracing::warn!(id = message.id, cause = %cause, "a delivery failed and is tried again later");
                Some((message, true))
            }
        }
    }

    /// Sends a message on its way: to the queue where there is one and the message is work, else to its end.
    async fn send(self, message: &Message) -> Result<Delivered, RuntimeError> {
        match &self.ports().queue {
            Some(queue) if message.task.is_work() => {
                queue.send(message, 0).await.map_err(RuntimeError::Queue)?;
                Ok(Delivered::Done)
            }
            Some(_) | None => self.outgoing().deliver(self.0, message).await,
        }
    }

    /// Says that the batch is being delivered, where doing it twice at once would make a call twice. False:
    /// somebody else does it.
    async fn hold(self, batch: &OutboxBatch) -> bool {
        let is_call = |message: &Message| message.task.is_call();
        if self.ports().queue.is_some() || !batch.messages.iter().any(is_call) {
            return true;
        }
        for key in &batch.keys {
            if !self.hold_row(key).await {
                return false;
            }
        }
        true
    }

    /// Holds a row for as long as a call may take.
    async fn hold_row(self, key: &OutboxKey) -> bool {
        // Where it cannot be held the call is made all the same: under the same key, which its receiver can tell.
        self.store()
            .outbox()
            .hold(key, self.now().0, self.call_hold_ms())
            .await
            .unwrap_or(true)
    }

    /// How long a row is held for a call.
    pub(crate) fn call_hold_ms(self) -> i64 {
        i64::try_from(self.config().call_ms).unwrap_or(i64::MAX) + 10_000
    }

    pub(crate) async fn delete_rows(self, keys: &[OutboxKey]) -> Result<(), RuntimeError> {
        for key in keys {
            self.store().outbox().delete(key).await?;
        }
        Ok(())
    }

    /// Deletes the rows of what was delivered; what is left stays in one of them.
    async fn tidy(self, keys: &[OutboxKey], left: Vec<Message>) -> Result<(), RuntimeError> {
        match (keys, left.is_empty()) {
            (_, true) => self.delete_rows(keys).await?,
            ([key], false) => {
                let left: Result<Vec<_>, _> = left.iter().map(Message::effect).collect();
                self.store().outbox().keep(key, &left?, true).await?;
            }
            // Which row has what is not known here, so all of it is delivered again.
            (_, false) => {}
        }
        Ok(())
    }
}
