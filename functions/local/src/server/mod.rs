//! The server: N nodes in this process over one table, which is in this process too or in DynamoDB.

mod admission;
mod connection;
mod console;
mod credentials;
#[cfg(feature = "aws")]
mod dynamo;
mod folder;
mod host;
mod limits;
mod listener;
mod pages;
mod permissions;
#[cfg(feature = "aws")]
mod remote;
mod signal;
mod storage;
mod traces;
mod watched;

pub(crate) use console::{Console, Spoken};
pub(crate) use credentials::{AuthenticationArgs, prepare as prepare_credentials};
pub(crate) use host::{Host, HostConfig};
pub(crate) use limits::{ConnectionArgs, ConnectionLimits};
pub(crate) use listener::{Listeners, address};
pub(crate) use pages::{StudioArgs, pages};
pub(crate) use signal::{Stop, stop_signal};
pub(crate) use storage::{Place, Storage, open_store};
