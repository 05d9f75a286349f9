//! Pauses between attempts: each twice as long as the one before, up to a bound, and spread.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::client::RequestError;

/// A server that asks for more than this is asked again earlier.
const ASKED_MAX: Duration = Duration::from_secs(60);

/// The pauses of one caller.
#[derive(Debug)]
pub(crate) struct Pauses {
    first: Duration,
    most: Duration,
    next: Duration,
}

impl Pauses {
    pub(crate) fn new(first_ms: u64, most_ms: u64) -> Self {
        let first = Duration::from_millis(first_ms);
        Self {
            first,
            most: Duration::from_millis(most_ms),
            next: first,
        }
    }

    /// The pause before the next attempt. A server that names a time is waited for.
    pub(crate) fn next(&mut self, error: &RequestError) -> Duration {
        // Every `RandomState` differs, which spreads workers well enough.
        let random = u32::try_from(RandomState::new().hash_one(0) % 501).unwrap_or(0);
        let pause = self.next * (500 + random) / 1_000;
        self.next = (self.next * 2).min(self.most);
        let asked = error.retry_after().unwrap_or_default().min(ASKED_MAX);
        pause.max(asked)
    }

    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_bound_and_wait_as_long_as_the_server_asks() {
        let mut pauses = Pauses::new(100, 400);
        let error = RequestError::Unreachable(String::new());
        for most in [100, 200, 400, 400] {
            let pause = u64::try_from(pauses.next(&error).as_millis()).unwrap_or(0);
            assert!((most / 2..=most).contains(&pause), "{pause} of {most}");
        }
        pauses.reset();
        assert!(pauses.next(&error) <= Duration::from_millis(100));
        let busy = RequestError::Rejected {
            status: 503,
            code: String::new(),
            message: String::new(),
            retry_after: Some(Duration::from_secs(7)),
        };
        assert_eq!(pauses.next(&busy), Duration::from_secs(7));
    }
}
