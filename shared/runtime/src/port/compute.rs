//! Work that occupies a processor: scripts, validation, passwords, archives. It does not run on the threads that serve
//! requests, and no tenant or definition takes all threads that it runs on.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::Work;
use crate::error::{ComputeError, Saturated};

/// Owner of a piece of work. Shares take turns: tenants first, then the definitions of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share {
    /// The tenant.
    pub tenant: Arc<str>,
    /// The definition, or what else takes turns within the tenant.
    pub definition: Arc<str>,
}

impl Share {
    /// The share of a definition of a tenant.
    #[must_use]
    pub fn new(tenant: &str, definition: &str) -> Self {
        Self {
            tenant: tenant.into(),
            definition: definition.into(),
        }
    }
}

/// Runs work on a bounded number of threads of its own, in fair turns.
///
/// Work must not wait for other work of the same port: with all threads waiting nothing would go on.
pub trait Compute: Send + Sync + 'static {
    /// Queues the work and returns at once.
    ///
    /// # Errors
    ///
    /// [`Saturated`], and the work is dropped.
    fn submit(&self, share: Share, work: Work) -> Result<(), Saturated>;
}

/// Runs work on a port and waits for its result; without a port it runs where it is. If the caller gives up before the work has
/// begun, it is not done.
///
/// # Errors
///
/// [`ComputeError`]
pub async fn compute<T: Send + 'static>(
    port: Option<&Arc<dyn Compute>>,
    share: Share,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, ComputeError> {
    let Some(port) = port else {
        return Ok(work.await);
    };
    let slot = Arc::new(Mutex::new(Slot::default()));
    let sender = Sender(Arc::clone(&slot));
    let receiver = Receiver(slot);
    let work = Box::pin(async move {
        if sender.is_wanted() {
            let value = work.await;
            sender.send(value);
        }
    });
    port.submit(share, work)?;
    receiver.await
}

/// Where the result of work is handed over.
struct Slot<T> {
    value: Option<T>,
    waker: Option<Waker>,
    has_sender: bool,
    has_receiver: bool,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self {
            value: None,
            waker: None,
            has_sender: true,
            has_receiver: true,
        }
    }
}

struct Sender<T>(Arc<Mutex<Slot<T>>>);

impl<T> Sender<T> {
    fn is_wanted(&self) -> bool {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.has_receiver
    }

    fn send(&self, value: T) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.value = Some(value);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.has_sender = false;
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

struct Receiver<T>(Arc<Mutex<Slot<T>>>);

impl<T> Future for Receiver<T> {
    type Output = Result<T, ComputeError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (slot.value.take(), slot.has_sender) {
            (Some(value), _) => Poll::Ready(Ok(value)),
            (None, false) => Poll::Ready(Err(ComputeError::Lost)),
            (None, true) => {
                slot.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.has_receiver = false;
    }
}
