//! Authentication and authorisation: secrets, passwords, tokens, permissions.
//!
//! Plain functions over bytes. Time and randomness are arguments; where users and keys are kept, and what a request
//! looks like, is not known here.

pub mod api_key;
pub mod jwks;
pub mod jwt;
pub mod mac;
pub mod password;
pub mod permission;
pub mod sealed;
pub mod secret;
pub mod user_name;
pub mod webhook;

pub use api_key::ApiKey;
pub use permission::Permissions;
pub use secret::Secret;
