//! Clients that have signed in: when passwords are guessed from elsewhere, theirs take turns of their own.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dormouse_runtime::port::Share;

use crate::client_address::ClientAddress;

/// The most clients that are remembered; beyond it those of longest ago are forgotten.
const CLIENTS_MAX: usize = 10_000;

/// How long a client is remembered.
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Clients that have signed in.
#[derive(Debug, Default)]
pub(crate) struct KnownClients(Mutex<HashMap<Option<IpAddr>, Instant>>);

impl KnownClients {
    /// Remembers a client.
    pub(crate) fn remember(&self, client: &ClientAddress) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if known.len() >= CLIENTS_MAX {
            known.retain(|_, at| now.duration_since(*at) < REMEMBERED);
            let oldest = known.iter().min_by_key(|(_, at)| **at);
            if let Some(oldest) = oldest.map(|(client, _)| *client)
                && known.len() >= CLIENTS_MAX
            {
                known.remove(&oldest);
            }
        }
        known.insert(client.limited_as(), now);
    }

    /// Whom the check of a client's password takes turns with: strangers among themselves, and known clients among
    /// themselves.
    pub(crate) fn turn(&self, client: &ClientAddress) -> Share {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.get(&client.limited_as());
        let group = match at.is_some_and(|at| at.elapsed() < REMEMBERED) {
            true => "known",
            false => "strangers",
        };
        Share::new(group, &client.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_signed_in_does_not_queue_behind_strangers() {
        let clients = KnownClients::default();
        let (one, other) = ("192.0.2.1", "192.0.2.2");
        let client = |text: &str| ClientAddress(text.parse().ok());
        clients.remember(&client(one));
        assert_eq!(clients.turn(&client(one)), Share::new("known", one));
        assert_eq!(clients.turn(&client(other)), Share::new("strangers", other));
    }
}
