//! What every kind of item is made of: keys, bodies, conditions, and the writes that all share.

pub mod backoff;
pub(crate) mod body;
pub(crate) mod change;
pub(crate) mod chunks;
pub mod config;
pub(crate) mod epoch;
pub mod error;
pub(crate) mod index;
pub(crate) mod key_text;
pub(crate) mod number;
pub mod packed;
pub(crate) mod readable;
pub(crate) mod shard;
pub mod stamp;
pub mod tenant;
pub mod versioned;
