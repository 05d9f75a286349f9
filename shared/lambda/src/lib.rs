//! What the Lambda functions share: start-up, the loop of invocations, batches of messages from SQS.
//!
//! Each function has its own events and nothing else. Nothing is kept between invocations but what may be forgotten:
//! caches and connections.

mod begin;
mod function;
mod sqs_event;

pub use begin::begin;
pub use function::{Function, Kind, StartError};
pub use lambda_runtime::Error;
pub use sqs_event::{SqsAnswer, SqsEvent, SqsRecord, handle_messages};
