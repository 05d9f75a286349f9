//! The ports on AWS: each file is one service behind one port.
//!
//! Nothing here knows what a workflow is. Which account, region and endpoint is the affair of [`config`]; what
//! an AWS error code means is the affair of `error`, and of no other file.

pub mod config;
pub mod dynamo_table;
mod error;
#[cfg(feature = "s3")]
pub mod s3_blobs;
