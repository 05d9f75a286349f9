//! Cutting evaluations off from outside: because the work that they are part of has taken its time, or is not wanted any more.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    /// The cut that the work on this thread is under.
    static CURRENT: RefCell<Option<Cut>> = const { RefCell::new(None) };
}

/// A way to cut off work that evaluates scripts, for whoever holds a clone. It counts for all evaluations together that run
/// within [`Self::during`], where [`Limits::time_ms_max`](crate::Limits) counts for each of them.
///
/// What is cut off ends with the limit `time_ms_max` within a few milliseconds. Evaluations that begin later end at once, so a
/// step of many scripts is over soon. Its result must be thrown away: it says nothing of the workflow.
#[derive(Debug, Clone)]
pub struct Cut(Arc<State>);

#[derive(Debug)]
struct State {
    is_cut: AtomicBool,
    until: Instant,
}

impl Cut {
    /// One that cuts by itself after so much time.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self(Arc::new(State {
            is_cut: AtomicBool::new(false),
            until: Instant::now() + time,
        }))
    }

    /// Cuts now. From any thread.
    pub fn cut(&self) {
        self.0.is_cut.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::cut`] was called.
    #[must_use]
    pub fn was_called(&self) -> bool {
        self.0.is_cut.load(Ordering::Relaxed)
    }

    /// Whether work is cut off: by a call, or because its time is over.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.was_called() || Instant::now() >= self.0.until
    }

    /// Does work on this thread that this cuts off.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        /// Puts back what was there, also after a panic.
        struct Before(Option<Cut>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.with(|current| current.replace(self.0.take()));
            }
        }
        let _before = Before(CURRENT.with(|current| current.replace(Some(self.clone()))));
        work()
    }
}

/// Whether the work on this thread is cut off.
pub(crate) fn is_cut() -> bool {
    CURRENT.with(|current| current.borrow().as_ref().is_some_and(Cut::is_cut))
}
