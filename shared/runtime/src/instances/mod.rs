//! What is done to one instance: start it, resume it, cancel it, alter it, take it elsewhere.

pub(crate) mod alter;
mod bring_back;
pub(crate) mod cancel;
pub(crate) mod complete_task;
pub(crate) mod delete;
pub(crate) mod dispatch;
pub(crate) mod file;
pub(crate) mod resume;
pub(crate) mod retry;
pub(crate) mod start;

use crate::runtime::handle::handle;

handle!(
    /// What is done to instances.
    pub Instances,
    instances
);
