//! Cutting evaluations off from outside: because the work that they are part of has taken its time, or is not wanted any more.
//! Time is processor time, as in [`crate::budget`].

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::processor::processor_time;

thread_local! {
    /// The cut that the work on this thread is under, and the thread's processor time when it began.
    static CURRENT: RefCell<Option<(Cut, Duration)>> = const { RefCell::new(None) };
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
    time: Duration,
    /// Until then nobody needs to look at the processor time.
    until: Instant,
    /// Processor time of the work that has ended, in ns.
    taken_ns: AtomicU64,
}

impl Cut {
    /// One that cuts by itself after so much processor time.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self(Arc::new(State {
            is_cut: AtomicBool::new(false),
            time,
            until: Instant::now() + time,
            taken_ns: AtomicU64::new(0),
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

    /// Whether work is cut off: by a call, or because the work that has ended has taken its time.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut_after(|| Duration::ZERO)
    }

    fn is_cut_after(&self, more: impl FnOnce() -> Duration) -> bool {
        if self.was_called() {
            return true;
        }
        let taken = || Duration::from_nanos(self.0.taken_ns.load(Ordering::Relaxed));
        Instant::now() >= self.0.until && taken() + more() >= self.0.time
    }

    /// Does work on this thread that this cuts off.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        /// Puts back what was there, also after a panic.
        struct Before(Option<(Cut, Duration)>);
        impl Drop for Before {
            fn drop(&mut self) {
                let ended = CURRENT.with(|current| current.replace(self.0.take()));
                if let Some((cut, begun)) = ended {
                    let taken = processor_time().saturating_sub(begun).as_nanos();
                    let taken = u64::try_from(taken).unwrap_or(u64::MAX);
                    cut.0.taken_ns.fetch_add(taken, Ordering::Relaxed);
                }
            }
        }
        let current = Some((self.clone(), processor_time()));
        let _before = Before(CURRENT.with(|place| place.replace(current)));
        work()
    }
}

/// Whether the work on this thread is cut off.
pub(crate) fn is_cut() -> bool {
    CURRENT.with(|current| {
        let current = current.borrow();
        let taken = |begun: &Duration| processor_time().saturating_sub(*begun);
        let is_cut = |(cut, begun): &(Cut, Duration)| cut.is_cut_after(|| taken(begun));
        current.as_ref().is_some_and(is_cut)
    })
}
