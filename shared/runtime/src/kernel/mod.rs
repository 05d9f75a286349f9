//! The kernel: load, step, commit, and hand over the effects.

pub(crate) mod advance;
pub(crate) mod burst;
pub(crate) mod combine;
pub(crate) mod create;
pub(crate) mod inbox;
pub(crate) mod target;
pub(crate) mod wake;

use crate::runtime::handle::handle;

handle!(
    /// Work on one instance: load, step, commit, hand over the effects.
    pub(crate) Kernel,
    kernel
);
