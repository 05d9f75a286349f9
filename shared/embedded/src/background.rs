//! Work that nobody waits for, as tokio tasks that are counted, so that a stopping process can wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_runtime::port::{Background, Work};
use tokio::runtime::Handle;
use tokio::sync::Notify;

/// Runs work on a tokio runtime. Clones count together.
#[derive(Debug, Clone)]
pub struct TokioBackground {
    handle: Handle,
    running: Arc<Running>,
}

#[derive(Debug, Default)]
struct Running {
    count: AtomicUsize,
    none: Notify,
}

/// Counts one piece of work for as long as it lives, however it ends.
struct Counted(Arc<Running>);

impl Drop for Counted {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.none.notify_waiters();
        }
    }
}

impl TokioBackground {
    /// Runs work on the runtime.
    #[must_use]
    pub fn new(handle: Handle) -> Self {
        Self {
            handle,
            running: Arc::default(),
        }
    }

    /// How many pieces of work have not ended.
    #[must_use]
    pub fn count(&self) -> usize {
        self.running.count.load(Ordering::Acquire)
    }

    /// Returns when no work is left. Work begun meanwhile counts too.
    pub async fn idle(&self) {
        loop {
            // Asked for before the count is read, so that no end is missed in between.
            let none = self.running.none.notified();
            if self.count() == 0 {
                return;
            }
            none.await;
        }
    }
}

impl Background for TokioBackground {
    fn spawn(&self, work: Work) {
        self.running.count.fetch_add(1, Ordering::AcqRel);
        let counted = Counted(Arc::clone(&self.running));
        self.handle.spawn(async move {
            work.await;
            drop(counted);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn idle_waits_for_work_that_work_begins() {
        let background = TokioBackground::new(Handle::current());
        background.idle().await;
        let done = Arc::new(AtomicUsize::new(0));
        let (inner, seen) = (background.clone(), Arc::clone(&done));
        background.spawn(Box::pin(async move {
            tokio::task::yield_now().await;
            let later = Arc::clone(&seen);
            inner.spawn(Box::pin(async move {
                tokio::task::yield_now().await;
                later.fetch_add(1, Ordering::Relaxed);
            }));
            seen.fetch_add(1, Ordering::Relaxed);
        }));
        background.idle().await;
        assert_eq!((done.load(Ordering::Relaxed), background.count()), (2, 0));
    }

    #[tokio::test]
    async fn work_that_panics_is_counted_out() {
        let background = TokioBackground::new(Handle::current());
        background.spawn(Box::pin(async { panic!("on purpose") }));
        background.idle().await;
        assert_eq!(background.count(), 0);
    }
}
