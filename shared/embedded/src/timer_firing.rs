//! Firing timers of one place, and what becomes of those that cannot fire.

use dormouse_runtime::{Runtime, Timer, TimerOutcome};
use dormouse_store::stimulus::timer::Timer as Row;

use crate::scheduler::TableScheduler;
use crate::timer_failures::Failures;

/// The shortest and the longest time by which a timer is moved that cannot fire yet, in ms; in between half of how late
/// it is.
const MOVED_MS: (i64, i64) = (500, 60_000);

/// Fires timers of one place. False: the table could not be told what became of them.
pub(crate) async fn fire(
    runtime: &Runtime,
    scheduler: &TableScheduler,
    failures: &Failures,
    rows: Vec<Row>,
) -> bool {
    let mut readable = Vec::with_capacity(rows.len());
    let mut timers = Vec::with_capacity(rows.len());
    let mut is_done = true;
    for row in rows {
        match serde_json::from_slice::<Timer>(&row.body) {
            Ok(timer) => {
                readable.push(row);
                timers.push(timer);
            }
            Err(error) => {
                let reason = format!("it cannot be read: {error}");
                is_done &= failures.dead_letter(runtime, &row, &reason).await;
            }
        }
    }
    let outcomes = runtime.timers().fire_all(&timers).await;
    let mut moved = Vec::new();
    for ((row, timer), outcome) in readable.iter().zip(&timers).zip(outcomes) {
        match outcome {
            Ok(TimerOutcome::Fired(_) | TimerOutcome::Stale | TimerOutcome::Early) => {
                failures.forget(row);
                // The commit has cleared it where it was set, not where it was moved to.
                if row.due_ms != timer.due.0 {
                    moved.push(row.clone());
                }
            }
            Ok(TimerOutcome::Later) => is_done &= later(runtime, scheduler, row, timer).await,
            // An outage is no failure of the timer, and all that are due would use up their attempts in it.
            Err(error) if error.is_busy() || error.is_outage() => {
                is_done &= later(runtime, scheduler, row, timer).await;
            }
            Err(error) => {
                is_done &= if failures.is_last(row) {
                    failures.dead_letter(runtime, row, &error.to_string()).await
                } else {
                    tracing::warn!(id = row.id, %error, "a timer could not fire; trying again");
                    later(runtime, scheduler, row, timer).await
                };
            }
        }
    }
    if !moved.is_empty()
        && let Err(error) = scheduler.store().timers().clear_timers(&moved).await
    {
        tracing::debug!(%error, "timers that have fired stay in the table and fire for nothing");
    }
    is_done
}

/// Moves a timer to a later time: the longer it is late, the farther.
async fn later(runtime: &Runtime, scheduler: &TableScheduler, row: &Row, timer: &Timer) -> bool {
    let now = runtime.ports().clock.now().0;
    let (least, most) = MOVED_MS;
    let after_ms = ((now - timer.due.0) / 2).clamp(least, most);
    let moved = scheduler
        .store()
        .timers()
        .move_timer(row, now + after_ms)
        .await;
    match &moved {
        Ok(()) => scheduler.alarm().due(now + after_ms),
        Err(error) => {
            tracing::warn!(id = row.id, %error, "a timer that cannot fire yet could not be moved");
        }
    }
    moved.is_ok()
}
