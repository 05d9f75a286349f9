//! The function `resume`: whatever a message says is done, one use case for each.
//!
//! Its events are batches of the resume queue, in which lie the runtime's own messages and events that a rule of the
//! bus has sent there; or one such event alone. A message that fails is named in the answer, and comes again alone.

use std::sync::Arc;

use dormouse_lambda::{Error, Function, handle_messages};
use serde_json::Value;

/// Handles one event of Lambda's.
///
/// # Errors
///
/// The event is of no kind that is known here, or the one message that it is must come again.
pub async fn handle(
    function: Arc<Function>,
    event: Value,
    deadline_ms: u64,
) -> Result<Value, Error> {
    handle_messages(&function, &function.runtime(deadline_ms), event).await
}
