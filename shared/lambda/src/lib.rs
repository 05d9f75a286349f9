//! Shared parts of the Lambda functions: start-up, the loop of invocations, batches of messages from SQS.
//!
//! Each function has its own events and nothing else. Nothing is kept between invocations but what may be forgotten:
//! caches and connections.
//!
//! # The end of an invocation
//!
//! The end of an invocation bounds its work (`runtime/src/runtime/invocation.rs`): bursts commit and continue by message, leases end soon after it,
//! and a call that does not fit is left to the next invocation. A call that is cut off is repeated under the same key. One that began with a
//! message has a whole invocation at most, and then an answer, so it is cut off once at most.

mod begin;
mod function;
mod sqs_event;

pub use begin::begin;
pub use function::{Function, Kind, StartError};
pub use lambda_runtime::Error;
pub use sqs_event::{SqsAnswer, SqsEvent, SqsRecord, handle_messages};
