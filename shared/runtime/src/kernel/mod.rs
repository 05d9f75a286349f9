//! The kernel: load, step, commit, and hand over the effects.

pub(crate) mod advance;
pub(crate) mod begin;
pub(crate) mod burst;
pub(crate) mod combine;
pub(crate) mod create;
pub(crate) mod fail_stuck;
pub(crate) mod read;

use crate::runtime::handle::handle;

handle!(
    /// Work on one instance: load, step, commit, hand over the effects.
    pub(crate) Kernel,
    kernel
);
