//! Plain data that the modules above hand to each other: messages, timers, and what an instance is asked for.

pub(crate) mod definition_handle;
pub(crate) mod delivered;
pub(crate) mod lifecycle_event;
pub mod message;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod retention;
pub(crate) mod start;
pub(crate) mod stimulus;
pub(crate) mod target;
pub(crate) mod task_request;
pub(crate) mod tenant_serde;
pub(crate) mod timer;
pub(crate) mod wake;
