//! The server: N nodes in this process over one table, which is in this process too or in DynamoDB.

mod admission;
mod commands;
mod connection;
mod console;
mod credentials;
#[cfg(feature = "aws")]
mod dynamo;
mod folder;
mod heap;
mod host;
mod limits;
mod listener;
mod outside;
mod pages;
mod permissions;
mod proxies;
#[cfg(feature = "aws")]
mod remote;
mod signal;
mod storage;
mod taken;
mod tls;
mod traces;
mod vault;
mod watched;

pub(crate) use commands::Processes;
pub(crate) use console::{Console, Spoken};
pub(crate) use credentials::{AuthenticationArgs, prepare as prepare_credentials};
pub(crate) use folder::table_failed;
pub(crate) use heap::{bound as bound_heap, trim as trim_heap};
pub(crate) use host::{Host, HostConfig, THREAD_STACK_BYTES};
pub(crate) use limits::ConnectionArgs;
pub(crate) use listener::{Listeners, Serving, address};
pub(crate) use pages::{StudioArgs, pages};
pub(crate) use proxies::Proxies;
pub(crate) use signal::{Stop, stop_signal};
pub(crate) use storage::{Place, Storage, open_store};
pub(crate) use tls::TlsArgs;
