//! One message of a queue: what it says, and what becomes of it. The same for a Lambda function and for a process
//! that polls.
//!
//! A message is one of the runtime's own, or an event of EventBridge that a rule has sent here. Whatever else it is
//! becomes a dead letter at once, and whatever cannot be done becomes one after a number of tries with growing pauses:
//! nothing goes round for ever.

use std::error::Error;

use dormouse_runtime::{Delivered, EventRequest, Message, Runtime, RuntimeError, Tenant};
use serde::Deserialize;
use serde_json::Value;

use crate::error::{CallError, causes};
use crate::eventbridge_bus::SOURCE;
use crate::large_message::{Fetched, LargeMessages};

/// The longest pause before a message is tried again, in seconds.
const PAUSE_MAX_S: u32 = 900;

/// How often a message is put back because it has to wait for others: for about eight hours.
const DELAYS_MAX: u32 = 500;

/// The longest such pause, in ms.
const DELAY_MS_MAX: u64 = 60_000;

/// How much too early a message may be, in ms, to be handled all the same.
const NEARLY_MS: i64 = 1_000;

/// A message as it was received.
#[derive(Debug, Clone, Copy)]
pub struct QueueMessage<'a> {
    /// Where it lies if its queue did not carry it itself.
    pub large: &'a LargeMessages,
    /// Its id in the queue.
    pub id: &'a str,
    /// What it says.
    pub body: &'a str,
    /// How often it was received, this time included.
    pub receives: u32,
    /// Not to be handled before, in ms since 1970.
    pub not_before_ms: Option<i64>,
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// It is to be deleted.
    Delete,
    /// It is to be received again after so many seconds.
    Again {
        /// The pause.
        after_s: i32,
    },
}

/// An event as EventBridge delivers it.
#[derive(Debug, Deserialize)]
struct BusEvent {
    id: String,
    source: String,
    #[serde(rename = "detail-type")]
    detail_type: String,
    detail: Value,
}

/// What a message turned out to be.
enum Read {
    Message(Box<Message>),
    /// An event of our own: workflows do not hear of themselves.
    Own,
    Unreadable(String),
}

impl QueueMessage<'_> {
    /// Does what the message says.
    pub async fn handle(&self, runtime: &Runtime) -> Disposition {
        if runtime.is_out_of_time() {
            return Disposition::Again { after_s: 0 };
        }
        let message = match self.read(runtime).await {
            Ok(Read::Message(message)) => message,
            Ok(Read::Own) => return Disposition::Delete,
            Ok(Read::Unreadable(reason)) => return self.dead_letter(runtime, &reason).await,
            Err(error) => return self.again(runtime, &error),
        };
        let early_ms = self.not_before_ms.unwrap_or(0) - runtime.ports().clock.now().0;
        if early_ms > NEARLY_MS && runtime.ports().queue.is_some() {
            let after_ms = early_ms.unsigned_abs();
            return self.put_back(runtime, &message, after_ms).await;
        }
        match runtime.delivery().deliver(&message).await {
            Ok(Delivered::Done) => Disposition::Delete,
            Ok(Delivered::Paused) => {
                let after_ms = runtime.pauses().again_after_pause_ms();
                self.put_back(runtime, &message, after_ms).await
            }
            Ok(Delivered::Never(reason)) => self.give_up(runtime, &message, reason).await,
            Ok(Delivered::Later) if message.delays < DELAYS_MAX => {
                tracing::info!(
                    id = message.id,
                    "resume already in progress; a message comes back"
                );
                // Sent anew, because waiting for others is no failed attempt.
                let delayed = Message {
                    delays: message.delays + 1,
                    ..*message
                };
                let after_ms = delay_ms(delayed.delays, runtime.ports().clock.random());
                self.put_back(runtime, &delayed, after_ms).await
            }
            Ok(Delivered::Missing) if !self.is_tried_out(runtime) => Disposition::Again {
                after_s: self.pause_s(runtime),
            },
            Ok(Delivered::Later) => {
                let reason = "others were at work on it each time it was tried";
                self.give_up(runtime, &message, reason).await
            }
            Ok(Delivered::Missing) => {
                let reason = "what it is about did not appear";
                self.give_up(runtime, &message, reason).await
            }
            Err(error) if !self.is_tried_out(runtime) => self.again(runtime, &error),
            Err(error) => {
                let reason = format!("it failed each time it was tried: {}", causes(&error));
                self.give_up(runtime, &message, &reason).await
            }
        }
    }

    async fn read(&self, runtime: &Runtime) -> Result<Read, CallError> {
        let not_ours = match Message::decode(self.body.as_bytes()) {
            Ok(message) => return Ok(Read::Message(Box::new(message))),
            Err(error) => error,
        };
        match self.large.fetch(self.body).await? {
            Fetched::Message(message) => return Ok(Read::Message(message)),
            Fetched::Lost(reason) => return Ok(Read::Unreadable(reason)),
            Fetched::NoClaim => {}
        }
        let Ok(event) = serde_json::from_str::<BusEvent>(self.body) else {
            let reason = format!("it cannot be read: {}", causes(&not_ours));
            return Ok(Read::Unreadable(reason));
        };
        if event.source == SOURCE {
            return Ok(Read::Own);
        }
        Ok(match message_of(event, runtime) {
            Ok(message) => Read::Message(Box::new(message)),
            Err(reason) => Read::Unreadable(reason),
        })
    }

    /// Sends it anew, to be received after a while: so that this time does not count as one of its tries.
    async fn put_back(&self, runtime: &Runtime, message: &Message, after_ms: u64) -> Disposition {
        let Some(queue) = &runtime.ports().queue else {
            let after_s = i32::try_from(after_ms / 1_000).unwrap_or(i32::MAX);
            return Disposition::Again { after_s };
        };
        let sent = queue.send(message, after_ms).await;
        sent.map_or_else(
            |error| self.again(runtime, &*error),
            |()| Disposition::Delete,
        )
    }

    fn is_tried_out(&self, runtime: &Runtime) -> bool {
        self.receives >= runtime.config().delivery_attempts_max
    }

    /// Twice as long each time, and a little more, so that those who failed together do not come back together.
    fn pause_s(&self, runtime: &Runtime) -> i32 {
        let longest = 1_u32 << self.receives.saturating_sub(1).min(10);
        let more = runtime.ports().clock.random() % u64::from(longest / 2 + 1);
        let seconds = longest + u32::try_from(more).unwrap_or(0);
        i32::try_from(seconds.min(PAUSE_MAX_S)).unwrap_or(1)
    }

    fn again(&self, runtime: &Runtime, error: &(dyn Error + 'static)) -> Disposition {
        let (receives, cause) = (self.receives, causes(error));
        tracing::warn!(
            id = self.id,
            receives,
            cause,
            "a message failed and comes back"
        );
        Disposition::Again {
            after_s: self.pause_s(runtime),
        }
    }

    async fn give_up(&self, runtime: &Runtime, message: &Message, reason: &str) -> Disposition {
        tracing::error!(id = message.id, reason, "a message is given up on");
        let given_up = runtime.dead_letters().give_up(message, reason).await;
        self.settled(runtime, given_up)
    }

    async fn dead_letter(&self, runtime: &Runtime, reason: &str) -> Disposition {
        tracing::error!(id = self.id, reason, "a message becomes a dead letter");
        let tenant = Tenant::default();
        let recorded = runtime
            .dead_letters()
            .give_up_unreadable(&tenant, self.id, self.body, reason);
        let recorded = recorded.await;
        self.settled(runtime, recorded)
    }

    /// A message that cannot even be made a dead letter comes back, until the queue moves it to its own.
    fn settled(&self, runtime: &Runtime, given_up: Result<(), RuntimeError>) -> Disposition {
        given_up.map_or_else(
            |error| self.again(runtime, &error),
            |()| Disposition::Delete,
        )
    }
}

/// The pause before a message is received again that had to wait for others: a second, doubled each time up to a minute,
/// and up to half as much more, so that those who waited together do not come back together.
fn delay_ms(delays: u32, random: u64) -> u64 {
    let longest = (1_000 << delays.saturating_sub(1).min(6)).min(DELAY_MS_MAX);
    longest + random % (longest / 2 + 1)
}

/// The message of an event from the bus. Its `detail-type` is the event's name. Its `detail` is the payload, unless it
/// has a `payload` of its own; `tenantId`, `correlationId` and `workflowInstanceId` in it say whom it is for.
fn message_of(event: BusEvent, runtime: &Runtime) -> Result<Message, String> {
    let text = |name: &str| match event.detail.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`detail.{name}` is not a text")),
    };
    let tenant = match text("tenantId")? {
        None => Tenant::default(),
        Some(name) => Tenant::new(&name).map_err(|error| format!("`detail.tenantId`: {error}"))?,
    };
    let request = EventRequest {
        correlation_id: text("correlationId")?,
        instance_id: text("workflowInstanceId")?,
        name: event.detail_type,
        event_id: Some(event.id),
        payload: match event.detail.get("payload") {
            Some(payload) => payload.clone(),
            None => event.detail,
        },
        ..EventRequest::default()
    };
    Ok(runtime.stimuli().event_message(&tenant, request).0)
}
