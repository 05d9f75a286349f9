//! The server: N nodes in this process over one embedded table.

mod console;
mod folder;
mod host;
mod listener;
mod signal;

pub(crate) use console::{Console, Spoken};
pub(crate) use host::{Host, HostConfig};
pub(crate) use listener::{Listeners, address};
pub(crate) use signal::{Stop, stop_signal};
