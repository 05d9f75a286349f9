//! Work that nobody waits for.

use std::future::Future;
use std::pin::Pin;

use super::Share;

/// A piece of work.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send + 'static>>;

/// Runs work that nobody waits for. What it drops, the sweep finds again in the outbox.
pub trait Background: Send + Sync + 'static {
    /// Begins the work and returns at once.
    fn spawn(&self, work: Work);

    /// Queues the work of a definition and returns at once. Definitions take turns, where there is anything to take turns for.
    fn queue(&self, share: Share, work: Work) {
        let _one_for_all = share;
        self.spawn(work);
    }
}
