//! Plain data that the modules above hand to each other: messages, timers, and what an instance is asked for.

pub(crate) mod definition_handle;
pub mod message;
pub(crate) mod report;
pub(crate) mod tenant_serde;
pub(crate) mod timer;
