//! What the world outside hears of.

use async_trait::async_trait;

use super::{LifecycleEvent, PortError, TaskRequest};

/// Tells the world outside.
#[async_trait]
pub trait Bus: Send + Sync + 'static {
    /// Asks for a task to be done. When it returns, the request outlives this process.
    async fn request_task(&self, request: &TaskRequest) -> Result<(), PortError>;

    /// Whether it wants to hear of instances that start, suspend and end. Each such commit then has a row in the
    /// outbox, which costs a second write.
    fn hears_lifecycle(&self) -> bool {
        false
    }

    /// Tells what happened to an instance, at least once. When it returns, the event outlives this process.
    async fn tell(&self, event: &LifecycleEvent) -> Result<(), PortError> {
        let _ = event;
        Ok(())
    }
}
