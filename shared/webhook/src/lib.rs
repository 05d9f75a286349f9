//! The bus port as a webhook: task requests and lifecycle events as requests to one address, signed as "Standard
//! Webhooks" has it.
//!
//! How a request leaves, and which addresses it may reach, is the caller's affair; when it is tried again is the
//! outbox's.

mod two_buses;
mod webhook;
mod webhook_bus;

pub use two_buses::TwoBuses;
pub use webhook::{BadWebhook, Webhook};
pub use webhook_bus::{ANSWER_MS, WebhookBus};
