//! The system's clock and its randomness.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use dormouse_engine::time::Timestamp;
use dormouse_runtime::port::Clock;

use crate::background::out_of_turn;

/// The system's clock. Sleeping needs a tokio runtime with time.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    async fn sleep(&self, ms: u64) {
        out_of_turn(tokio::time::sleep(Duration::from_millis(ms))).await;
    }

    fn random(&self) -> u64 {
        #[allow(
            clippy::expect_used,
            reason = "a system without randomness cannot give ids that nobody else has; going on would be worse"
        )]
        getrandom::u64().expect("the system gives random numbers")
    }
}
