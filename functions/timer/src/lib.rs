//! The function `timer`: timers that are due, and the sweep.
//!
//! Its events are batches of the timer queue, fed by schedules and by delays, and a tick each minute. A timer that
//! comes early is scheduled again for exactly its time; one that is due wakes whoever waits for it.

use std::sync::Arc;

use dormouse_lambda::{Error, Function, handle_messages};
use dormouse_runtime::Runtime;
use serde_json::{Value, json};

/// Every how many minutes the queues of nodes that are gone are looked for.
const ORPHANS_EVERY: i64 = 10;

/// Handles one event of Lambda's.
///
/// # Errors
///
/// The event is of no kind that is known here, the one message that it is must come again, or the sweep could not
/// read the table.
pub async fn handle(
    function: Arc<Function>,
    event: Value,
    deadline_ms: u64,
) -> Result<Value, Error> {
    let runtime = function.runtime(deadline_ms);
    if is_tick(&event) {
        return sweep(&function, &runtime).await;
    }
    handle_messages(&function, &runtime, event).await
}

/// Recognises the event of a sweep: a schedule's `{"source": "dormouse.sweep"}`, or what a rule sends that fires by the
/// clock.
fn is_tick(event: &Value) -> bool {
    let is = |name: &str, value: &str| event.get(name).is_some_and(|v| v == value);
    is("source", "dormouse.sweep")
        || (is("source", "aws.events") && is("detail-type", "Scheduled Event"))
}

async fn sweep(function: &Function, runtime: &Runtime) -> Result<Value, Error> {
    let report = runtime.operations().sweep().await?;
    let minute = runtime.ports().clock.now().0 / 60_000;
    if minute % ORPHANS_EVERY == 0
        && let Some(queues) = function.node_queues()
        && let Err(error) = queues.remove_orphans().await
    {
        tracing::warn!(%error, "queues of nodes that are gone are left for the next time");
    }
    if report != dormouse_runtime::SweepReport::default() {
        tracing::info!(?report, "swept");
    }
    Ok(json!({
        "delivered": report.delivered,
        "left": report.left,
        "givenUp": report.given_up,
        "matched": report.matched,
        "expired": report.expired,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_told_from_a_message() {
        assert!(is_tick(&json!({ "source": "dormouse.sweep" })));
        let rule =
            json!({ "source": "aws.events", "detail-type": "Scheduled Event", "detail": {} });
        assert!(is_tick(&rule));
        for other in [
            json!({ "Records": [] }),
            json!({ "do": "fire" }),
            json!({ "source": "shop", "detail-type": "Scheduled Event" }),
            json!(null),
        ] {
            assert!(!is_tick(&other), "{other}");
        }
    }
}
