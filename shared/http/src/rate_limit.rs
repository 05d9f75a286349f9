//! A limit on attempts that fail, by client address: a bucket of tokens that refills with time.
//!
//! Only failures are charged, so that an office behind one address is not held up by what it does right; but an
//! empty bucket refuses everything, so that whether an attempt would have succeeded is not told. The limit is this
//! process's own: N nodes together allow N times as much.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::client_address::ClientAddress;

/// The most clients that are remembered. Beyond it, those whose buckets are full again are forgotten, then the half whose
/// buckets are nearest to it: nobody gets a full bucket by filling the table.
const CLIENTS_MAX: usize = 20_000;

type FullAt = HashMap<Option<IpAddr>, Instant>;

/// A limit on attempts that fail.
#[derive(Debug)]
pub(crate) struct RateLimit {
    failures_max: u32,
    refill: Duration,
    /// When each client's bucket will be full again.
    full_at: Mutex<FullAt>,
}

impl RateLimit {
    /// So many failures at once, and one more each `refill`.
    pub(crate) fn new(failures_max: u32, refill: Duration) -> Self {
        Self {
            failures_max,
            refill,
            full_at: Mutex::default(),
        }
    }

    /// Whether a client may try.
    pub(crate) fn allows(&self, client: &ClientAddress) -> bool {
        self.allows_at(client, Instant::now())
    }

    /// Counts a failure.
    pub(crate) fn charge(&self, client: &ClientAddress) {
        self.charge_at(client, Instant::now());
    }

    /// Counts an attempt as a failure before it is made, if the client may make one: so many at once cannot all be made.
    pub(crate) fn take(&self, client: &ClientAddress) -> bool {
        self.take_at(client, Instant::now())
    }

    /// Gives back what [`Self::take`] took: the attempt was right.
    pub(crate) fn refund(&self, client: &ClientAddress) {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = full_at.get_mut(&client.limited_as()) {
            *at = at.checked_sub(self.refill).unwrap_or(*at);
        }
    }

    fn take_at(&self, client: &ClientAddress, now: Instant) -> bool {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let may = self.has_some(&full_at, client, now);
        if may {
            self.charge_in(&mut full_at, client, now);
        }
        may
    }

    fn allows_at(&self, client: &ClientAddress, now: Instant) -> bool {
        let full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        self.has_some(&full_at, client, now)
    }

    fn has_some(&self, full_at: &FullAt, client: &ClientAddress, now: Instant) -> bool {
        let Some(at) = full_at.get(&client.limited_as()) else {
            return true;
        };
        // What is missing in the bucket, as time.
        let missing = at.saturating_duration_since(now);
        missing + self.refill <= self.refill * self.failures_max
    }

    fn charge_at(&self, client: &ClientAddress, now: Instant) {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        self.charge_in(&mut full_at, client, now);
    }

    fn charge_in(&self, full_at: &mut FullAt, client: &ClientAddress, now: Instant) {
        if full_at.len() >= CLIENTS_MAX {
            full_at.retain(|_, at| *at > now);
            if full_at.len() >= CLIENTS_MAX {
                forget_half(full_at);
            }
        }
        let at = full_at.entry(client.limited_as()).or_insert(now);
        *at = (*at).max(now) + self.refill;
    }
}

/// Forgets the half of the clients that are charged least.
fn forget_half(full_at: &mut FullAt) {
    let mut instants: Vec<Instant> = full_at.values().copied().collect();
    let half = instants.len() / 2;
    if half == 0 {
        return;
    }
    let (below, middle, _) = instants.select_nth_unstable(half);
    let middle = *middle;
    // Many may be charged alike: of those, as many as the half has room for.
    let mut alike = below.iter().filter(|at| **at == middle).count();
    full_at.retain(|_, at| match (*at).cmp(&middle) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal if alike > 0 => {
            alike -= 1;
            false
        }
        Ordering::Equal => true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> ClientAddress {
        ClientAddress(text.parse().ok())
    }

    #[test]
    fn a_client_that_fails_too_often_must_wait_and_others_need_not() {
        let limit = RateLimit::new(3, Duration::from_secs(2));
        let (bad, good) = (client("192.0.2.1"), client("192.0.2.2"));
        let start = Instant::now();
        for _ in 0..3 {
            assert!(limit.allows_at(&bad, start));
            limit.charge_at(&bad, start);
        }
        assert!(!limit.allows_at(&bad, start));
        assert!(limit.allows_at(&good, start));
        let later = start + Duration::from_secs(2);
        assert!(limit.allows_at(&bad, later));
        limit.charge_at(&bad, later);
        assert!(!limit.allows_at(&bad, later));
        assert!(limit.allows_at(&bad, start + Duration::from_secs(100)));
    }

    #[test]
    fn attempts_at_once_are_counted_before_they_are_made_and_right_ones_given_back() {
        let limit = RateLimit::new(3, Duration::from_secs(2));
        let (one, now) = (client("192.0.2.1"), Instant::now());
        let made = (0..300).filter(|_| limit.take_at(&one, now)).count();
        assert_eq!(made, 3);
        limit.refund(&one);
        assert!(limit.take_at(&one, now));
        assert!(!limit.take_at(&one, now));
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let limit = RateLimit::new(1, Duration::from_secs(2));
        let now = Instant::now();
        limit.charge_at(&client("2001:db8::1"), now);
        assert!(!limit.allows_at(&client("2001:db8::2"), now));
        assert!(limit.allows_at(&client("2001:db8:0:1::1"), now));
        limit.charge_at(&client("::ffff:192.0.2.1"), now);
        assert!(!limit.allows_at(&client("192.0.2.1"), now));
        assert!(limit.allows_at(&client(""), now));
    }

    #[test]
    fn clients_that_fill_the_table_do_not_free_who_is_charged_most() {
        let limit = RateLimit::new(10, Duration::from_secs(6));
        let (guesser, now) = (client("192.0.2.1"), Instant::now());
        while limit.take_at(&guesser, now) {}
        for n in 0..u32::try_from(CLIENTS_MAX).unwrap() * 2 {
            let other = ClientAddress(Some(IpAddr::V4((0x0a00_0000 + n).into())));
            limit.charge_at(&other, now);
        }
        assert!(!limit.allows_at(&guesser, now));
        let remembered = limit.full_at.lock().unwrap().len();
        assert!(remembered <= CLIENTS_MAX, "{remembered}");
        assert!(remembered >= CLIENTS_MAX / 2, "{remembered}");
    }
}
