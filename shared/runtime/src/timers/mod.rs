//! Timers that are due, of instances and of triggers.

pub(crate) mod fire;
pub(crate) mod fire_occurrence;
