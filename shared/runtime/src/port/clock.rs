//! Time and randomness.

use async_trait::async_trait;
use dormouse_engine::time::Timestamp;

/// The one source of time and randomness.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// The time, in ms since 1970. It may jump; no rule depends on it but how soon a dead holder is replaced.
    fn now(&self) -> Timestamp;

    /// Returns after so many milliseconds, or a little later.
    async fn sleep(&self, ms: u64);

    /// 64 random bits, unpredictable where it is not a simulation.
    fn random(&self) -> u64;
}
