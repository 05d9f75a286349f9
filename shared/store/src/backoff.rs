//! Waiting between attempts at a busy table. The sleep and the randomness are the caller's.

use std::future::Future;

use crate::error::StoreError;

/// How often to try again, and how long to wait between.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// At most this many attempts, the first one counted.
    pub attempts_max: u32,
    /// The longest first wait, in ms; each further one may be twice as long.
    pub first_ms: u64,
    /// The longest wait, in ms.
    pub wait_max_ms: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            attempts_max: 6,
            first_ms: 20,
            wait_max_ms: 1_000,
        }
    }
}

impl Backoff {
    /// The wait before the attempt after `attempt` (from 1), between half and all of its bound.
    #[must_use]
    pub fn wait_ms(&self, attempt: u32, random: u64) -> u64 {
        let doubled = self
            .first_ms
            .saturating_mul(1 << attempt.saturating_sub(1).min(20));
        let bound = doubled.min(self.wait_max_ms);
        bound / 2 + random % (bound / 2 + 1)
    }

    /// Calls `operation` until it succeeds, fails for good, or the attempts are used up. Only an error where
    /// [`StoreError::is_busy`] holds is tried again: nothing has happened then.
    ///
    /// # Errors
    ///
    /// The last error of the operation.
    pub async fn retry<T, Operation, Sleep>(
        &self,
        mut random: impl FnMut() -> u64,
        mut sleep: impl FnMut(u64) -> Sleep,
        mut operation: impl FnMut() -> Operation,
    ) -> Result<T, StoreError>
    where
        Operation: Future<Output = Result<T, StoreError>>,
        Sleep: Future<Output = ()>,
    {
        let mut attempt = 1;
        loop {
            match operation().await {
                Err(error) if error.is_busy() && attempt < self.attempts_max => {
                    sleep(self.wait_ms(attempt, random())).await;
                    attempt += 1;
                }
                result => return result,
            }
        }
    }
}
