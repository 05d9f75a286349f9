//! Work that nobody waits for, as tokio tasks that are counted, so that a stopping process can wait for them.
//!
//! Work that is queued runs in fair turns and in a bounded number, so that a definition that starts itself over and over occupies
//! neither the threads that serve requests nor the memory. Work gives its turn to others while it waits for somebody outside.

use std::cell::Cell;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_runtime::port::{Background, Share, Work};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::turns::{PoolLimits, Queues};

/// How much queued work runs at once, and how much may be queued. What finds no room stays in the outbox for the sweep.
const LIMITS: PoolLimits = PoolLimits {
    threads: 128,
    queued_max: 16_384,
    queued_of_tenant_max: 14_336,
    queued_of_share_max: 12_288,
};

/// Work that has taken longer waits for others of this process, such as for a burst that makes a call. It loses its turn.
const TURN_MAX: Duration = Duration::from_secs(2);

thread_local! {
    /// Whether this thread begins queued work right now.
    static BEGINS: Cell<bool> = const { Cell::new(false) };
}

tokio::task_local! {
    /// The turn of the work that a task is.
    static TURN: Arc<Turn>;
}

/// Waits for somebody outside of this process. Queued work that does so lets other work have its turn meanwhile.
pub async fn out_of_turn<T>(waits: impl Future<Output = T>) -> T {
    let _away = TURN.try_with(Turn::leave).ok();
    waits.await
}

/// The same while the work is done, or until it is dropped.
pub(crate) fn until_done(work: Work) -> Work {
    match TURN.try_with(Turn::leave) {
        Ok(away) => Box::pin(async move {
            work.await;
            drop(away);
        }),
        Err(_) => work,
    }
}

/// Does the work that has its turn.
async fn in_turn(mut work: Work) {
    if tokio::time::timeout(TURN_MAX, work.as_mut()).await.is_err() {
        out_of_turn(work).await;
    }
}

/// Runs work on a tokio runtime. Clones count together.
#[derive(Clone)]
pub struct TokioBackground {
    handle: Handle,
    running: Arc<Running>,
    queues: Arc<Mutex<Queues>>,
}

#[derive(Debug, Default)]
struct Running {
    count: AtomicUsize,
    none: Notify,
}

/// Counts one piece of work for as long as it lives, however it ends.
struct Counted(Arc<Running>);

impl Counted {
    fn new(running: &Arc<Running>) -> Self {
        running.count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(running))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.none.notify_waiters();
        }
    }
}

/// The turn of one piece of queued work, until it ends.
struct Turn {
    background: TokioBackground,
    share: Share,
    /// For how many things outside it waits.
    away: AtomicUsize,
}

/// Somebody outside is waited for.
struct Away(Arc<Turn>);

impl Turn {
    fn leave(turn: &Arc<Self>) -> Away {
        if turn.away.fetch_add(1, Ordering::AcqRel) == 0 {
            turn.background.queues().ended(&turn.share);
            turn.background.begin();
        }
        Away(Arc::clone(turn))
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        let turn = &self.0;
        // It does not queue again: others may wait for what it has begun.
        if turn.away.fetch_sub(1, Ordering::AcqRel) == 1 {
            turn.background.queues().resumed(&turn.share);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.background.queues().ended(&self.share);
        self.background.begin();
    }
}

impl TokioBackground {
    /// Runs work on the runtime.
    #[must_use]
    pub fn new(handle: Handle) -> Self {
        Self {
            handle,
            running: Arc::default(),
            queues: Arc::default(),
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

    /// Drops the work that is queued, and takes no more of it. The outbox has it.
    pub fn drop_queued(&self) {
        let dropped = self.queues().stop();
        drop(dropped);
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins queued work as far as there is room.
    fn begin(&self) {
        // A runtime that shuts down drops what is begun here and now, which leads here again.
        if BEGINS.replace(true) {
            return;
        }
        while let Some((share, work)) = self.next() {
            let turn = Arc::new(Turn {
                background: self.clone(),
                share,
                away: AtomicUsize::new(0),
            });
            self.handle.spawn(TURN.scope(turn, in_turn(work)));
        }
        BEGINS.set(false);
    }

    /// The next queued work, if there is room for it.
    fn next(&self) -> Option<(Share, Work)> {
        let mut queues = self.queues();
        let has_room = queues.running() < LIMITS.threads;
        has_room.then(|| queues.pop(LIMITS.threads)).flatten()
    }
}

impl Background for TokioBackground {
    fn spawn(&self, work: Work) {
        let counted = Counted::new(&self.running);
        self.handle.spawn(async move {
            work.await;
            drop(counted);
        });
    }

    fn queue(&self, share: Share, work: Work) {
        let counted = Counted::new(&self.running);
        let work = Box::pin(async move {
            work.await;
            drop(counted);
        });
        if self.queues().push(share, work, &LIMITS).is_err() {
            tracing::debug!("queued work finds no room and is left to the sweep");
        }
        self.begin();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test may fail")]
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

    /// Work that waits until it is told to go on, and counts how much of it runs.
    fn waiting(go_on: &Arc<Notify>, runs: &Arc<AtomicUsize>) -> Work {
        let (go_on, runs) = (Arc::clone(go_on), Arc::clone(runs));
        Box::pin(async move {
            let told = go_on.notified();
            runs.fetch_add(1, Ordering::Relaxed);
            told.await;
            runs.fetch_sub(1, Ordering::Relaxed);
        })
    }

    async fn settle() {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_definition_that_multiplies_leaves_others_room() {
        let background = TokioBackground::new(Handle::current());
        let (go_on, bombs, others) = (Arc::default(), Arc::default(), Arc::default());
        for _ in 0..20_000 {
            background.queue(Share::new("t", "bomb"), waiting(&go_on, &bombs));
        }
        background.queue(Share::new("t", "other"), waiting(&go_on, &others));
        settle().await;
        assert_eq!(bombs.load(Ordering::Relaxed), LIMITS.threads / 2);
        assert_eq!(others.load(Ordering::Relaxed), 1);
        let most = LIMITS.queued_of_share_max + LIMITS.threads / 2 + 1;
        assert_eq!(background.count(), most);
        background.drop_queued();
        assert_eq!(background.count(), LIMITS.threads / 2 + 1);
        go_on.notify_waiters();
        background.idle().await;
        assert_eq!(background.queues().running(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_waits_for_somebody_outside_gives_its_turn_to_others() {
        let background = TokioBackground::new(Handle::current());
        let (go_on, outside, runs) = (Arc::new(Notify::new()), Arc::default(), Arc::default());
        for _ in 0..200 {
            let waits = waiting(&go_on, &outside);
            let work = Box::pin(async move {
                tokio::join!(out_of_turn(waits), out_of_turn(async {}));
            });
            background.queue(Share::new("t", "calls"), work);
        }
        settle().await;
        assert_eq!(outside.load(Ordering::Relaxed), 200);
        let work = waiting(&go_on, &runs);
        background.queue(Share::new("t", "calls"), work);
        settle().await;
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        go_on.notify_waiters();
        background.idle().await;
        assert_eq!(background.queues().running(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_takes_long_loses_its_turn() {
        let background = TokioBackground::new(Handle::current());
        let (go_on, slow, quick) = (Arc::new(Notify::new()), Arc::default(), Arc::default());
        for n in 0..4 {
            for _ in 0..LIMITS.threads {
                let share = Share::new("t", &format!("slow {n}"));
                background.queue(share, waiting(&go_on, &slow));
            }
        }
        background.queue(Share::new("t", "quick"), waiting(&go_on, &quick));
        settle().await;
        assert_eq!(slow.load(Ordering::Relaxed), LIMITS.threads);
        assert_eq!(quick.load(Ordering::Relaxed), 0);
        tokio::time::sleep(TURN_MAX * 2).await;
        settle().await;
        assert_eq!(quick.load(Ordering::Relaxed), 1);
        tokio::time::sleep(TURN_MAX * 4).await;
        settle().await;
        assert_eq!(slow.load(Ordering::Relaxed), 4 * LIMITS.threads);
        go_on.notify_waiters();
        background.idle().await;
        settle().await;
        assert_eq!(background.queues().running(), 0);
    }

    #[tokio::test]
    async fn queued_work_that_panics_gives_its_turn_back() {
        let background = TokioBackground::new(Handle::current());
        background.queue(
            Share::new("t", "d"),
            Box::pin(async { panic!("on purpose") }),
        );
        background.idle().await;
        settle().await;
        assert_eq!(background.queues().running(), 0);
    }
}
