//! The server: N nodes in this process over one table, which is in this process too or in DynamoDB.

mod console;
mod credentials;
#[cfg(feature = "aws")]
mod dynamo;
mod folder;
mod host;
mod listener;
mod pages;
#[cfg(feature = "aws")]
mod remote;
mod signal;
mod storage;
mod traces;

pub(crate) use console::{Console, Spoken};
pub(crate) use credentials::{AuthenticationArgs, prepare as prepare_credentials};
pub(crate) use host::{Host, HostConfig};
pub(crate) use listener::{Listeners, address};
pub(crate) use pages::{StudioArgs, pages};
pub(crate) use signal::{Stop, stop_signal};
pub(crate) use storage::{Place, Storage, open_store};
