//! `Elsa.StartAt`: starts an instance at an instant, or waits for one.

use serde_json::json;

use super::{Activity, ActivityKind, BuiltIn, Descriptor, Listening};
use crate::definition::data_type::DataType;
use crate::schedule::Recurrence;
use crate::schedule::zone::{parse_in, zone};
use crate::step::{Cx, Fault, Then};
use crate::time::Timestamp;

/// The type, and the stimulus's name.
pub const START_AT: &str = "Elsa.StartAt";

#[derive(Debug)]
struct StartAt;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            START_AT,
            "Scheduling",
            "Starts the workflow at a point in time, or waits for it.",
        )
        .kind(ActivityKind::Trigger)
        .input("dateTime", "DateTimeOffset", "Point in time.")
        // Without an offset of its own it is meant in the zone, so none may be added to it.
        .with(|input| input.data_type = DataType::DateTime)
        .hint("datetime-picker")
        .input(
            "timeZone",
            "String",
            "IANA time zone of a time without an offset. Default: UTC.",
        ),
        build: |_, _| Box::new(StartAt),
    }
}

fn instant(cx: &mut Cx<'_, '_>) -> Result<Timestamp, Fault> {
    let zone = zone(&cx.text("timeZone")?.unwrap_or_default())
        .map_err(|e| Fault::new("InvalidInput", e.to_string()))?;
    let text = cx.text("dateTime")?.unwrap_or_default();
    parse_in(&text, &zone).ok_or_else(|| {
        let message = format!("`{text}` is no instant; give one such as 2026-12-24T18:00:00Z");
        Fault::new("InvalidInput", message)
    })
}

impl Activity for StartAt {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        if cx.is_trigger() {
            return Ok(Then::DONE);
        }
        // Elsa's default is the first instant of all.
        if cx
            .text("dateTime")?
            .is_none_or(|text| text.trim().is_empty())
        {
            return Ok(Then::DONE);
        }
        let due = instant(cx)?;
        if due <= cx.now() {
            return Ok(Then::DONE);
        }
        cx.wait_until(due, json!({ "ExecuteAt": due.to_string() }));
        Ok(Then::Wait)
    }

    fn listen(&self, cx: &mut Cx<'_, '_>) -> Result<Vec<Listening>, Fault> {
        let at = instant(cx)?;
        let payload = json!({ "ExecuteAt": at.to_string() });
        Ok(vec![Listening {
            name: START_AT.into(),
            hashed: payload.clone(),
            payload,
            recurrence: Some(Recurrence::At { at }),
        }])
    }

    fn is_trigger(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, line, literal};
    use crate::instance::SubStatus;
    use crate::schedule::Recurrence;
    use crate::time::Timestamp;

    fn start_at(text: &str, zone: &str) -> Scenario {
        let start_at = json!({
            "id": "s", "type": "Elsa.StartAt", "dateTime": literal(text), "timeZone": literal(zone),
            "customProperties": { "canStartWorkflow": true },
        });
        Scenario::sequence(json!({}), json!([start_at, line("now")]))
    }

    #[test]
    fn a_past_instant_is_no_wait_and_a_later_one_is() {
        assert_eq!(start_at("2026-03-02T09:59:59Z", "").start().lines, ["now"]);
        let mut scenario = start_at("2026-03-02T11:30:00", "Europe/Amsterdam").start();
        let due = Timestamp::parse("2026-03-02T10:30:00Z");
        assert_eq!(scenario.waiting_at("s").due(), due);
        scenario.let_time_pass();
        assert_eq!(scenario.lines, ["now"]);
    }

    #[test]
    fn as_a_trigger_it_fires_once() {
        let scenario = start_at("2026-07-01T12:00:00", "Europe/Amsterdam");
        let at = Timestamp::parse("2026-07-01T10:00:00Z").unwrap();
        assert_eq!(
            scenario.triggers().unwrap()[0].recurrence,
            Some(Recurrence::At { at })
        );
        assert_eq!(scenario.trigger("s", json!({})).lines, ["now"]);
    }

    #[test]
    fn what_is_no_instant_is_no_wait_and_what_is_no_zone_is_said() {
        let scenario = start_at("", "UTC").start();
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
        assert_eq!(scenario.lines, ["now"]);
        let faults = start_at("2026-07-01T12:00:00", "Mars/Olympus")
            .triggers()
            .unwrap_err();
        assert!(faults[0].1.message.contains("Mars/Olympus"));
    }
}
