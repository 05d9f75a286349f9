//! Tasks of activities whose type is data: handed to their handlers, asked for by workers, answered.
//!
//! The instance is the only truth about a task. Who takes one commits that first, and then it is his for as long as its
//! type says; a timer of the instance offers it again. A row of a queue only says where to look.

pub(crate) mod answer;
mod http;
mod lambda;
pub(crate) mod open;
mod perform;
pub(crate) mod poll;

use crate::runtime::handle::handle;

handle!(
    /// Tasks of activities whose type is data.
    pub Tasks,
    tasks
);

/// The most tasks of one request.
pub const TASKS_MAX: usize = 50;
/// The longest that a request for tasks waits, in ms.
pub const WAIT_MS_MAX: u64 = 20_000;
