//! Users, roles, applications, sessions, keys, links, webhooks and secrets.

pub mod application;
pub mod link;
pub mod role;
pub mod secret;
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
