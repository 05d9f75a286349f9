//! What waits for stimuli, stimuli that wait, and timers.

pub mod bookmark;
pub mod chain;
pub mod queued_stimulus;
pub mod recipients;
pub mod stimuli;
pub mod timer;
