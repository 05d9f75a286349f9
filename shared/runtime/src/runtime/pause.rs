//! The pause: nobody starts or wakes an instance while an operator does something that must not be interfered with.
//!
//! It is one item of the table, so it is in force for every node and outlives them all. A node does not read it with
//! each call: a process that lives on looks every few seconds, a function when an invocation begins, and the use cases
//! ask what was seen. So a start or resume may still be taken for [`PAUSE_SEEN_MS`] after a pause began; and who pauses
//! is told what the table says, not what every node has seen.
//!
//! Whoever asks by HTTP is refused with [`RuntimeError::Paused`]. What comes by itself is put back and not counted as
//! an attempt: messages go to the queue again, rows stay in the outbox, timers in the table, and events that wait for
//! a bookmark are kept for longer. A burst in progress runs until its instance waits or makes way.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

pub use dormouse_store::operation::pause::Pause;

use crate::error::RuntimeError;
use crate::runtime::Pauses;

/// After how many ms at the latest every node has seen that a pause began or ended.
pub const PAUSE_SEEN_MS: i64 = 5_000;

/// A message that comes during a pause comes again after as long as the pause has lasted, and at least and at most after
/// so many ms: so it is not sent round and round, and goes on soon after a short pause.
const AGAIN_MS: (i64, i64) = (5_000, 240_000);

/// What a node knows of a pause.
#[derive(Debug, Default)]
pub(crate) struct KnownPause {
    pause: Mutex<Option<Pause>>,
    /// When it was looked at, in ms since 1970; 0: never.
    looked_ms: AtomicI64,
}

impl KnownPause {
    fn get(&self) -> Option<Pause> {
        let pause = self.pause.lock();
        pause.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note of what was seen; answers whether it is news.
    fn set(&self, seen: Option<Pause>, now_ms: i64) -> bool {
        let mut known = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = known.is_some() != seen.is_some();
        *known = seen;
        self.looked_ms.store(now_ms, Ordering::Relaxed);
        is_news
    }
}

impl Pauses<'_> {
    /// The pause, as this node has seen it last. No read.
    #[must_use]
    pub fn paused(self) -> Option<Pause> {
        self.known_pause().get()
    }

    /// Whether there is a pause, as this node has seen it last. No read.
    #[must_use]
    pub fn is_paused(self) -> bool {
        let known = self.known_pause().pause.lock();
        known.unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Looks whether there is a pause, and takes note of it. One read. To be called every [`PAUSE_SEEN_MS`] at the
    /// latest by whoever lives on.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]: what was seen before counts on.
    pub async fn look(self) -> Result<Option<Pause>, RuntimeError> {
        let seen = self.store().operations().pause().await?;
        if self.known_pause().set(seen.clone(), self.now().0) {
            let (is_paused, node) = (seen.is_some(), &self.config().node);
            tracing::info!(node, is_paused, "a pause has begun or ended");
            if is_paused {
                self.running().cut_all();
            }
        }
        Ok(seen)
    }

    /// The same if the last look is older than [`PAUSE_SEEN_MS`]: for a function, when an invocation begins.
    ///
    /// # Errors
    ///
    /// As [`Self::look`].
    pub async fn look_now_and_then(self) -> Result<(), RuntimeError> {
        let looked_ms = self.known_pause().looked_ms.load(Ordering::Relaxed);
        if (self.now().0 - looked_ms).abs() >= PAUSE_SEEN_MS {
            self.look().await?;
        }
        Ok(())
    }

    /// Begins a pause for every node and tenant. One that there is stays as it is. Answers the one in force.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn begin(
        self,
        by: &str,
        reason: Option<String>,
    ) -> Result<Option<Pause>, RuntimeError> {
        let pause = Pause {
            since_ms: self.now().0,
            by: by.to_owned(),
            reason,
        };
        self.store().operations().put_pause(&pause).await?;
        self.look().await
    }

    /// Ends the pause, if there is one.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn end(self) -> Result<(), RuntimeError> {
        self.store().operations().end_pause().await?;
        self.look().await?;
        Ok(())
    }

    /// Refuses what would start or wake an instance during a pause.
    pub(crate) fn refuse_while_paused(self) -> Result<(), RuntimeError> {
        match self.paused() {
            Some(pause) => Err(RuntimeError::Paused {
                since_ms: pause.since_ms,
            }),
            None => Ok(()),
        }
    }

    /// After how many ms a message is to come again that came during a pause.
    #[must_use]
    pub fn again_after_pause_ms(self) -> u64 {
        let since_ms = self.paused().map_or(self.now().0, |pause| pause.since_ms);
        let wait_ms = (self.now().0 - since_ms).clamp(AGAIN_MS.0, AGAIN_MS.1);
        let wait_ms = wait_ms.unsigned_abs();
        // A little more, so that those who came together do not come back together.
        wait_ms + self.ports().clock.random() % (wait_ms / 4)
    }
}
