//! Messages to whichever node has time for them.

use async_trait::async_trait;

use super::PortError;
use crate::work::message::Message;

/// A queue of messages. Each is handed to [`crate::Deliveries::deliver`] on some node, at least once.
#[async_trait]
pub trait Queue: Send + Sync + 'static {
    /// Sends a message that is to be handled after `delay_ms`. When it returns, the message outlives this process.
    async fn send(&self, message: &Message, delay_ms: u64) -> Result<(), PortError>;
}
