//! The port [`Compute`] as threads of this process: bounded in number, with a bounded queue, in fair turns.
//!
//! Tenants take turns, and so do the definitions of a tenant; those that have taken much time lately come last. Beside that, one
//! definition occupies half of the threads at most, and all that have taken much leave a thread to the others.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use dormouse_runtime::port::{Compute, Saturated, Share, Work};
use tokio::runtime::Handle;

use crate::background::until_done;
use crate::turns::{PoolLimits, Queues};

/// Threads for work that occupies a processor. When the last clone is dropped, work that is still queued is dropped.
#[derive(Clone)]
pub struct Pool(Arc<Owner>);

struct Owner(Arc<Inner>);

struct Inner {
    limits: PoolLimits,
    queues: Mutex<Queues>,
    /// Something was queued, something ended, or the pool stops.
    changed: Condvar,
}

impl Pool {
    /// Starts the threads. Work may use the tokio runtime that this is called on.
    ///
    /// # Errors
    ///
    /// The operating system's, if it gives no threads.
    pub fn start(name: &str, limits: PoolLimits) -> std::io::Result<Self> {
        let inner = Arc::new(Inner {
            limits,
            queues: Mutex::default(),
            changed: Condvar::new(),
        });
        // Dropped on an error, it stops the threads that have begun.
        let pool = Self(Arc::new(Owner(Arc::clone(&inner))));
        for n in 0..limits.threads.max(1) {
            let inner = Arc::clone(&inner);
            let handle = Handle::current();
            std::thread::Builder::new()
                .name(format!("{name}-{n}"))
                // The expressions' limit of stack, and room for what calls them.
                .stack_size(4 << 20)
                .spawn(move || inner.work(&handle))?;
        }
        Ok(pool)
    }
}

impl Compute for Pool {
    fn submit(&self, share: Share, work: Work) -> Result<(), Saturated> {
        let inner = &self.0.0;
        let work = until_done(work);
        let mut queues = inner.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.push(share, work, &inner.limits)?;
        drop(queues);
        inner.changed.notify_one();
        Ok(())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let mut queues = self.0.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = queues.stop();
        drop(queues);
        self.0.changed.notify_all();
        drop(dropped);
    }
}

impl Inner {
    /// What each thread does.
    fn work(&self, handle: &Handle) {
        yield_to_servers();
        while let Some((share, work)) = self.next() {
            let begun = Instant::now();
            // Its caller learns of a panic by the missing result.
            let ended = std::panic::catch_unwind(AssertUnwindSafe(|| handle.block_on(work)));
            if ended.is_err() {
                tracing::error!(definition = &*share.definition, "work ended by a panic");
            }
            let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
            queues.ended(&share);
            let now = Instant::now();
            queues.charge(&share, now.saturating_duration_since(begun), now);
            drop(queues);
            // Work of the same share may have waited for this thread.
            self.changed.notify_one();
        }
    }

    /// The next work. `None`: the pool stops.
    fn next(&self) -> Option<(Share, Work)> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if queues.is_stopped() {
                return None;
            }
            if let Some(next) = queues.pop(self.limits.threads) {
                return Some(next);
            }
            let woken = self.changed.wait(queues);
            queues = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Lets the threads that serve requests go first. On Linux a priority is a thread's own.
#[cfg(target_os = "linux")]
fn yield_to_servers() {
    const NICE: i32 = 10;
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "a thread for computing has the same priority as all others");
    }
}

#[cfg(not(target_os = "linux"))]
fn yield_to_servers() {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use dormouse_runtime::port::{ComputeError, compute};

    use super::*;

    const ONE: PoolLimits = PoolLimits {
        threads: 1,
        queued_max: 100,
        queued_of_tenant_max: 100,
        queued_of_share_max: 50,
    };

    fn port(limits: PoolLimits) -> Arc<dyn Compute> {
        Arc::new(Pool::start("test", limits).unwrap())
    }

    /// Keeps a thread busy until it is told to go on.
    fn blocker(port: &Arc<dyn Compute>, share: Share) -> mpsc::Sender<()> {
        let (go_on, wait) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        let work = Box::pin(async move {
            begun.send(()).unwrap();
            let _either_way = wait.recv_timeout(Duration::from_secs(20));
        });
        port.submit(share, work).unwrap();
        has_begun.recv_timeout(Duration::from_secs(20)).unwrap();
        go_on
    }

    #[tokio::test]
    async fn tenants_and_their_definitions_take_turns() {
        let port = port(ONE);
        let go_on = blocker(&port, Share::new("x", "x"));
        let (done, order) = mpsc::channel();
        for (tenant, definition) in [
            ("a", "1"),
            ("a", "1"),
            ("a", "1"),
            ("a", "2"),
            ("b", "3"),
            ("b", "3"),
        ] {
            let done = done.clone();
            let work = Box::pin(async move { done.send((tenant, definition)).unwrap() });
            port.submit(Share::new(tenant, definition), work).unwrap();
        }
        drop(done);
        go_on.send(()).unwrap();
        let order: Vec<_> = order.iter().collect();
        let expected = [
            ("a", "1"),
            ("b", "3"),
            ("a", "2"),
            ("b", "3"),
            ("a", "1"),
            ("a", "1"),
        ];
        assert_eq!(order, expected);
    }

    #[tokio::test]
    async fn a_definition_that_occupies_its_threads_leaves_others_some() {
        let port = port(PoolLimits { threads: 2, ..ONE });
        let hostile = Share::new("a", "hostile");
        let _busy = blocker(&port, hostile.clone());
        let queued = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&queued);
        let work = Box::pin(async move {
            count.fetch_add(1, Ordering::SeqCst);
        });
        port.submit(hostile, work).unwrap();
        let other = compute(Some(&port), Share::new("a", "other"), async { 7 });
        assert_eq!(other.await, Ok(7));
        assert_eq!(queued.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn a_full_queue_is_told_at_once() {
        let limits = PoolLimits {
            queued_max: 3,
            queued_of_share_max: 2,
            ..ONE
        };
        let port = port(limits);
        let _busy = blocker(&port, Share::new("a", "1"));
        let submit = |definition| port.submit(Share::new("a", definition), Box::pin(async {}));
        assert_eq!(submit("1"), Ok(()));
        assert_eq!(submit("1"), Ok(()));
        assert_eq!(submit("1"), Err(Saturated));
        assert_eq!(submit("2"), Ok(()));
        assert_eq!(submit("3"), Err(Saturated));
    }

    #[tokio::test]
    async fn one_tenant_leaves_others_room_in_the_queue() {
        let limits = PoolLimits {
            queued_max: 5,
            queued_of_tenant_max: 3,
            ..ONE
        };
        let port = port(limits);
        let _busy = blocker(&port, Share::new("a", "1"));
        let submit =
            |tenant, n: usize| port.submit(Share::new(tenant, &n.to_string()), Box::pin(async {}));
        let taken = (0..10).filter(|n| submit("a", *n).is_ok()).count();
        assert_eq!(taken, 3);
        assert_eq!(submit("b", 1), Ok(()));
    }

    #[tokio::test]
    async fn a_panic_is_told_to_its_caller_and_harms_nobody_else() {
        let port = port(ONE);
        let share = Share::new("a", "1");
        let lost = compute(Some(&port), share.clone(), async { panic!("on purpose") });
        let lost: Result<(), _> = lost.await;
        assert_eq!(lost, Err(ComputeError::Lost));
        assert_eq!(compute(Some(&port), share, async { 7 }).await, Ok(7));
    }

    #[tokio::test]
    async fn work_whose_caller_has_given_up_is_not_begun() {
        let port = port(ONE);
        let share = Share::new("a", "1");
        let go_on = blocker(&port, share.clone());
        let begun = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&begun);
        let abandoned = compute(Some(&port), share.clone(), async move {
            count.fetch_add(1, Ordering::SeqCst);
        });
        let abandoned = tokio::time::timeout(Duration::from_millis(20), abandoned);
        assert!(abandoned.await.is_err());
        go_on.send(()).unwrap();
        assert_eq!(compute(Some(&port), share, async { 7 }).await, Ok(7));
        assert_eq!(begun.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn work_that_is_queued_when_the_pool_goes_is_dropped() {
        let port = port(ONE);
        let _busy = blocker(&port, Share::new("a", "1"));
        let held = Arc::new(());
        let work = Arc::clone(&held);
        let work = Box::pin(async move { drop(work) });
        port.submit(Share::new("a", "2"), work).unwrap();
        assert_eq!(Arc::strong_count(&held), 2);
        drop(port);
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
