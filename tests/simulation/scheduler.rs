//! Timers outside the table, as EventBridge Scheduler and SQS keep them together.
//!
//! A timer that is due within 15 minutes is a delayed message of a queue that deduplicates nothing. A later one is a
//! schedule, which sends its message ahead of the due time, up to a minute late and now and then twice. Whoever receives
//! it early schedules it again.

use dormouse_runtime::message::Task;
use dormouse_runtime::{Message, Timer, Wakes};

use super::cluster::{Cluster, lock};

/// The longest delay of a message, ms: `DELAY_MAX_S` of the queue on AWS.
const DELAY_MS_MAX: i64 = 900_000;

/// How long before the due time a schedule sends its message, ms: `AHEAD_MS` of the scheduler on AWS.
const AHEAD_MS: i64 = 90_000;

/// How late a schedule may be, ms.
const LATE_MS: u64 = 60_000;

impl Cluster {
    /// Schedules a timer for a node whose clock says `now_ms`.
    pub(crate) fn schedule(&self, timer: &Timer, now_ms: i64) {
        let left_ms = timer.due.0 - now_ms;
        if left_ms <= DELAY_MS_MAX {
            // Whole seconds, rounded up.
            let seconds = (left_ms.max(0) + 999) / 1_000;
            self.enqueue(firing(timer), seconds.unsigned_abs() * 1_000);
            return;
        }
        if lock(&self.shared.schedules).insert(name(timer)) {
            self.drive(self.clone().send_ahead(timer.clone()));
        }
    }

    /// Deletes the schedule of a timer. A message that is on its way stays.
    pub(crate) fn forget(&self, timer: &Timer, now_ms: i64) {
        if timer.due.0 - now_ms > AHEAD_MS {
            lock(&self.shared.schedules).remove(&name(timer));
        }
    }

    async fn send_ahead(self, timer: Timer) {
        let world = &self.world;
        let at_ms = timer.due.0 - AHEAD_MS - timer.due.0.rem_euclid(1_000);
        world.sleep_until(at_ms).await;
        world.sleep(world.below(LATE_MS)).await;
        if !lock(&self.shared.schedules).remove(&name(&timer)) {
            return;
        }
        self.enqueue(firing(&timer), 0);
        if world.chance(world.faults().twice) {
            world.sleep(world.below(LATE_MS)).await;
            self.enqueue(firing(&timer), 0);
        }
    }
}

/// The message that fires a timer.
fn firing(timer: &Timer) -> Message {
    let task = Task::Fire {
        timer: timer.clone(),
    };
    Message::new(format!("timer/{}", timer.id()), timer.tenant.clone(), task)
}

/// The name of a timer's schedule.
fn name(timer: &Timer) -> String {
    format!("{} {} {}", timer.tenant, timer.due.0, timer.id())
}

/// The trigger of a message that fires an occurrence, and the nominal time.
pub(crate) fn trigger_of(message: &Message) -> Option<(String, i64)> {
    let Task::Fire { timer } = &message.task else {
        return None;
    };
    let Wakes::Occurrence(occurrence) = &timer.wakes else {
        return None;
    };
    let trigger = format!(
        "{}/{}/{}",
        occurrence.definition_id, occurrence.activity_id, occurrence.generation
    );
    Some((trigger, occurrence.nominal.0))
}

#[test]
fn the_rules_are_those_of_the_adapter() {
    // The adapter is compiled with the feature `aws` only, so its text is compared.
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");
    let all = ["aws/src", "runtime/src"]
        .iter()
        .flat_map(|folder| {
            std::fs::read_dir(format!("{root}/{folder}"))
                .into_iter()
                .flatten()
        })
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok())
        .collect::<String>()
        .replace('_', "");
    for limit in ["DELAYMAXS: i64 = 900;", "AHEADMS: i64 = 90000;"] {
        assert!(
            all.contains(limit),
            "the adapter's limit is not `{limit}` any more"
        );
    }
    assert_eq!((DELAY_MS_MAX, AHEAD_MS), (900 * 1_000, 90_000));
}
