//! What comes of delivering a message.

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// It is done, or was done before, or there is nothing to do any more. Delete it.
    Done,
    /// It has to wait for others. Deliver it again after a pause, and do not count it as an attempt.
    Later,
    /// What it is about is not there, and may still come. Deliver it again after a pause; after a number of attempts,
    /// give up.
    Missing,
    /// There is a pause. Deliver it again after [`crate::Pauses::again_after_pause_ms`], and do not count it as an attempt.
    Paused,
    /// It can never be done, for this reason: [`crate::DeadLetters::give_up`].
    Never(&'static str),
}
