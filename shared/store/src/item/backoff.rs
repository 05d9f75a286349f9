//! Waiting between attempts at a busy table. The sleep and the randomness are the caller's.

use std::future::Future;

use crate::item::error::StoreError;

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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::ready;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::table::TableError;

    /// Retries an operation that is busy so often, and answers how often it was called and how long was waited.
    fn run(
        busy: u32,
        last: fn() -> Result<u32, StoreError>,
    ) -> (Result<u32, StoreError>, u32, Vec<u64>) {
        let calls = RefCell::new(0);
        let waits = RefCell::new(Vec::new());
        let result = {
            let operation = || {
                *calls.borrow_mut() += 1;
                let is_busy = *calls.borrow() <= busy;
                ready(if is_busy {
                    Err(TableError::Busy.into())
                } else {
                    last()
                })
            };
            let sleep = |ms| {
                waits.borrow_mut().push(ms);
                ready(())
            };
            let backoff = Backoff::default();
            let retry = backoff.retry(|| u64::MAX, sleep, operation);
            match pin!(retry).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(result) => result,
                Poll::Pending => panic!("nothing here waits"),
            }
        };
        (result, calls.into_inner(), waits.into_inner())
    }

    #[test]
    fn a_busy_table_is_asked_again_after_longer_and_longer_waits() {
        let (result, calls, waits) = run(3, || Ok(7));
        assert_eq!((result.unwrap(), calls, waits.len()), (7, 4, 3));
        assert!(
            waits.is_sorted() && (10..=20).contains(&waits[0]) && waits[2] >= 40,
            "{waits:?}"
        );
        let (result, calls, _) = run(99, || Ok(7));
        assert!(result.unwrap_err().is_busy());
        assert_eq!(calls, 6);
    }

    #[test]
    fn what_is_not_busy_is_not_asked_again() {
        let (result, calls, waits) = run(0, || Err(TableError::Unknown("lost".into()).into()));
        assert!(result.unwrap_err().is_unknown());
        assert_eq!((calls, waits.len()), (1, 0));
        let longest = Backoff::default().wait_ms(60, u64::MAX);
        assert!((500..=1_000).contains(&longest), "{longest}");
    }
}
