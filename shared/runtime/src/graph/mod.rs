//! Definitions ready to run: found, resolved, compiled and remembered.

pub(crate) mod bindings;
pub(crate) mod cache;
pub(crate) mod load;
pub(crate) mod pin;
pub(crate) mod resolve;
pub(crate) mod version_extra;

use crate::runtime::handle::handle;

handle!(
    /// Definitions ready to run.
    pub Graphs,
    graphs
);
