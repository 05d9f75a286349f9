//! `Elsa.Timer`: starts an instance again and again after a length of time, or waits for one once.

use serde_json::json;

use super::{Activity, ActivityKind, BuiltIn, Descriptor, Listening};
use crate::schedule::Recurrence;
use crate::schedule::recurrence::INTERVAL_MS_MIN;
use crate::step::{Cx, Fault, Then};
use crate::time::format_duration;

/// The type, and the stimulus's name.
pub const TIMER: &str = "Elsa.Timer";

#[derive(Debug)]
struct Timer;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            TIMER,
            "Scheduling",
            "Starts the workflow at an interval, or waits for one interval.",
        )
        .kind(ActivityKind::Trigger)
        .input("interval", "TimeSpan", "Interval.")
        .default_value("00:01:00"),
        build: |_, _| Box::new(Timer),
    }
}

fn interval_ms(cx: &mut Cx<'_, '_>) -> Result<i64, Fault> {
    Ok(cx.duration_ms("interval")?.unwrap_or(60_000))
}

impl Activity for Timer {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        if cx.is_trigger() {
            return Ok(Then::DONE);
        }
        let due = cx.now().plus_ms(interval_ms(cx)?.max(0));
        cx.wait_until(due, json!({ "ResumeAt": due.to_string() }));
        Ok(Then::Wait)
    }

    fn listen(&self, cx: &mut Cx<'_, '_>) -> Result<Vec<Listening>, Fault> {
        let interval_ms = interval_ms(cx)?;
        // As in Elsa, an interval of nothing can be published, and starts nothing.
        let recurrence = (interval_ms > 0).then(|| Recurrence::Every {
            interval_ms: interval_ms.max(INTERVAL_MS_MIN),
        });
        let interval_ms = recurrence
            .as_ref()
            .map_or(0, |_| interval_ms.max(INTERVAL_MS_MIN));
        let payload = json!({ "Interval": format_duration(interval_ms) });
        Ok(vec![Listening {
            name: TIMER.into(),
            hashed: payload.clone(),
            payload,
            recurrence,
        }])
    }

    fn is_trigger(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{BEGIN, Scenario, line, literal};
    use crate::schedule::Recurrence;

    fn timer(interval: &str) -> Value {
        json!({ "id": "t", "type": "Elsa.Timer", "interval": literal(interval), "canStartWorkflow": true })
    }

    fn timer_and_line() -> Scenario {
        Scenario::sequence(json!({}), json!([timer("00:00:30"), line("now")]))
    }

    #[test]
    fn in_the_middle_it_waits_once() {
        let mut scenario = timer_and_line().start();
        assert_eq!(scenario.waiting_at("t").due(), Some(BEGIN.plus_ms(30_000)));
        scenario.let_time_pass();
        assert_eq!(scenario.lines, ["now"]);
    }

    #[test]
    fn an_instance_it_started_does_not_wait() {
        assert_eq!(timer_and_line().trigger("t", json!({})).lines, ["now"]);
    }

    #[test]
    fn as_a_trigger_it_recurs() {
        let triggers = timer_and_line().triggers().unwrap();
        assert_eq!(
            triggers[0].recurrence,
            Some(Recurrence::Every {
                interval_ms: 30_000
            })
        );
        assert_eq!(triggers[0].payload, json!({ "Interval": "00:00:30" }));
    }

    #[test]
    fn an_interval_of_nothing_can_be_published_and_never_fires() {
        for nothing in ["00:00:00", "-00:00:05", "nope"] {
            let triggers = Scenario::of(timer(nothing)).triggers().unwrap();
            assert_eq!(triggers[0].recurrence, None, "{nothing}");
            assert_eq!(triggers[0].payload, json!({ "Interval": "00:00:00" }));
        }
    }
}
