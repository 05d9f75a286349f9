//! Users, roles, applications, sessions, keys, links and webhooks.

pub mod application;
pub mod link;
pub mod role;
pub mod session;
pub mod signing_key;
pub mod user;
pub mod webhook;

use crate::store::handle::handle;

handle!(
    /// Users, roles, applications and sessions.
    pub Identities,
    identities
);

handle!(
    /// Resume links, webhooks and signing keys.
    pub Links,
    links
);
