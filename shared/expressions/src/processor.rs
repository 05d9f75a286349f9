//! Processor time.

use std::time::Duration;

/// Processor time that this thread has taken: neither a busy machine nor a frozen process makes any of it pass. Reading it costs
/// some hundred nanoseconds.
#[cfg(unix)]
pub(crate) fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Elsewhere the time since the first question.
#[cfg(not(unix))]
pub(crate) fn processor_time() -> Duration {
    static FIRST: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    FIRST.elapsed()
}
