#![doc = include_str!("../README.md")]

mod client;
mod context;
mod handler;
mod lambda;
mod lease;
mod pause;
pub mod testing;
pub mod webhook;
mod worker;

pub use client::{Client, RequestError};
pub use context::{Context, Task, TaskLost, Workflow};
pub use handler::{ActivityError, Reply};
pub use worker::{Worker, WorkerError};
