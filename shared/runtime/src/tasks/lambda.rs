//! Handlers that are functions of AWS Lambda: the task as the event, the answer as the result, or `"later"`.

use dormouse_engine::activity_type::{ANSWER_BYTES_MAX, Failure};
use serde_json::Value;

use super::Tasks;
use super::perform::{Said, answer, too_large};
use crate::port::{FunctionAnswer, not_allowed};

/// The most bytes of an event. Lambda's own limit of synchronous invocations (page "Lambda quotas").
const EVENT_BYTES_MAX: usize = 6 << 20;
/// What a function returns that answers later.
const LATER: &str = "later";

impl Tasks<'_> {
    /// Invokes a handler.
    pub(super) async fn invoke(self, function: &str, body: &Value, timeout_ms: u64) -> Said {
        let functions = self.ports().functions.as_ref();
        let Some(functions) = functions.filter(|functions| functions.allows(function)) else {
            return Said::failed(
                &Failure::new("HandlerNotAllowed", not_allowed(function)).for_good(),
            );
        };
        let event = body.to_string().into_bytes();
        if event.len() > EVENT_BYTES_MAX {
            let message =
                format!("the task has more than {EVENT_BYTES_MAX} bytes, which no function takes");
            return Said::failed(&Failure::new("InputTooLarge", message).for_good());
        }
        let invoked = functions.invoke(function, event, timeout_ms, ANSWER_BYTES_MAX);
        match invoked.await {
            FunctionAnswer::Done(bytes) => match answer(&bytes) {
                Said::Answer(Value::String(text)) if text == LATER => Said::Later,
                said @ (Said::Answer(_) | Said::Later) => said,
            },
            FunctionAnswer::Failed {
                kind,
                message,
                is_retryable,
            } => {
                let failure = Failure::new(&kind, message);
                Said::failed(&if is_retryable {
                    failure
                } else {
                    failure.for_good()
                })
            }
            FunctionAnswer::TimedOut => {
                let message = format!("the function did not answer within {timeout_ms} ms");
                Said::failed(&Failure::new("Timeout", message))
            }
            FunctionAnswer::TooLong => Said::failed(&too_large()),
        }
    }
}
