//! The ports on AWS: each file is one service behind one port.
//!
//! Nothing here knows what a workflow is. Which account, region and endpoint is the affair of [`config`]; what a
//! deployment is made of is the affair of [`environment`]; what an AWS error code means is the affair of `error`, and
//! of no other file.
//!
//! # Messages
//!
//! - Queues carry the runtime's own messages as JSON. `queue_message` decides about each message, for a Lambda function and for a process
//!   that polls alike: done, again after a growing pause, or a dead letter. A message that cannot be read becomes a dead letter at once; one that
//!   fails ten times becomes one then.
//! - A text over 252 KB is in the bucket under `!messages/`, named by its digest, and the queue carries that name (`large_message`, a claim check). It may
//!   be read repeatedly, so nothing deletes it; the bucket does after 30 days, when no queue contains it any more. The payload of a task
//!   likewise: its event says `taskPayloadAt` then.
//! - A message carries the number of messages that led to it without a wait in between. Beyond 1,000 it is a dead letter. Lambda's own loop
//!   detection would stop at 16, and is switched off for `resume`.
//!
//! # Timers
//!
//! A timer that is due within 15 minutes is an SQS delay, rounded up to seconds. A later one is a schedule at 90 seconds before it, because
//! Scheduler may be a minute late. Its message arrives early and is delayed for the rest. Setting it again finds the name of the schedule taken.
//!
//! # Functions
//!
//! - Handlers of the kind `lambda` are invoked by a signed request of our own (`lambda_functions`), for the SDK's client of Lambda would add
//!   megabytes. Only functions that the configuration names are invoked. A name without an account is completed by the ARN that allows it.
//!
//! # Events
//!
//! - Events of the bus resume workflows under their `detail-type`. `detail` is the payload, unless it has a `payload`. `tenantId`,
//!   `correlationId` and `workflowInstanceId` in it select the recipients. Events of the source `dormouse` resume nothing.
//! - Lifecycle events (`InstanceStarted`, `InstanceSuspended`, `InstanceFinished`, `InstanceFaulted`, `InstanceCancelled`) are effects like any
//!   other: none is lost, and none is sent before its commit. That costs a commit without other effects its row in the outbox: a transaction of
//!   two writes and a deletion in place of one plain write. They are sent only if `DORMOUSE_LIFECYCLE_EVENTS` is `true`.

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
pub mod lambda_functions;
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
