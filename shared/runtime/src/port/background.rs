//! Work that nobody waits for.

use std::future::Future;
use std::pin::Pin;

/// A piece of work.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send + 'static>>;

/// Runs work that nobody waits for. What it drops, the sweep finds again in the outbox.
pub trait Background: Send + Sync + 'static {
    /// Begins the work and returns at once.
    fn spawn(&self, work: Work);
}
