//! Users, roles, applications, sessions, keys, links and webhooks.

pub mod application;
pub mod link;
pub mod role;
pub mod session;
pub mod signing_key;
pub mod user;
pub mod webhook;
