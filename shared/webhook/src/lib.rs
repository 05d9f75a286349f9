//! The bus port as a webhook: task requests and lifecycle events as requests to one address, signed as "Standard
//! Webhooks" has it.
//!
//! How a request leaves, and which addresses it may reach, is the caller's affair; when it is tried again is the
//! outbox's.
//!
//! # Delivery
//!
//! A webhook is an effect like any other: it is sent after its commit, and again by the sweep, with the same id and the same bytes, by servers and
//! functions alike. Beside an event bus, both are told. One that is down keeps nothing from the other, and a process that retries remembers which of
//! them has it (`two_buses.rs`). A function reserves as much of an invocation as the receiver may take to answer. Webhooks pass the same guard as
//! requests of workflows.

mod two_buses;
mod webhook;
mod webhook_bus;

pub use two_buses::TwoBuses;
pub use webhook::{BadWebhook, Webhook};
pub use webhook_bus::{ANSWER_MS, WebhookBus};
