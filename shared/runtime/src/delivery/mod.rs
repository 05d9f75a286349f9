//! Messages on their way: delivered, kept in the outbox, or given up as dead letters.

pub(crate) mod dead_letters;
pub(crate) mod deliver;
pub(crate) mod parcel;
