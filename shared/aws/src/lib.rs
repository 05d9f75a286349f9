//! The ports on AWS: each file is one service behind one port.
//!
//! Nothing here knows what a workflow is. Which account, region and endpoint is the affair of [`config`]; what a
//! deployment is made of is the affair of [`environment`]; what an AWS error code means is the affair of `error`, and
//! of no other file.

pub mod config;
#[cfg(feature = "messages")]
pub mod deployment;
pub mod dynamo_table;
pub mod environment;
mod error;
#[cfg(feature = "messages")]
pub mod eventbridge_bus;
#[cfg(feature = "messages")]
pub mod eventbridge_scheduler;
#[cfg(feature = "messages")]
pub mod large_message;
#[cfg(feature = "messages")]
pub mod node_queue;
#[cfg(feature = "messages")]
pub mod queue_message;
#[cfg(feature = "s3")]
pub mod s3_blobs;
#[cfg(feature = "messages")]
pub mod sns_broadcast;
#[cfg(feature = "messages")]
pub mod sqs_poller;
#[cfg(feature = "messages")]
pub mod sqs_queue;
mod variables;

#[cfg(feature = "messages")]
pub use error::CallError;
