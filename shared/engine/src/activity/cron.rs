//! `Elsa.Cron`: starts an instance at every time of a cron expression, or waits for the next one.

use serde_json::{Value, json};

use super::{Activity, ActivityKind, BuiltIn, Descriptor, Listening};
use crate::graph::Builder;
use crate::schedule::zone::zone;
use crate::schedule::{self, Recurrence};
use crate::step::{Cx, Fault, Then};
use crate::time::Timestamp;

/// The type, and the stimulus's name.
pub const CRON: &str = "Elsa.Cron";

/// The fields of an expression that starts workflows.
const FIELDS: usize = 6;

#[derive(Debug)]
struct Cron;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            CRON,
            "Scheduling",
            "Starts the workflow by a cron expression, or waits for its next time.",
        )
        .kind(ActivityKind::Trigger)
        .input(
            "cronExpression",
            "String",
            "Seconds, minutes, hours, days of month, months, days of week: `0 30 9 * * MON-FRI`.",
        )
        .input(
            "timeZone",
            "String",
            "IANA time zone of the expression, such as Europe/Amsterdam. Default: UTC.",
        ),
        build: |builder, _| {
            check(builder);
            Box::new(Cron)
        },
    }
}

/// Tells of a bad literal where it stands, long before it would be evaluated.
fn check(builder: &mut Builder<'_>) {
    let text = |input: &str| {
        builder
            .literal(input)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let cron = text("cronExpression").and_then(|text| schedule::Cron::parse(&text).err());
    let zone = text("timeZone").and_then(|name| zone(&name).err());
    let wrong = [
        ("cronExpression", "badCron", cron.map(|e| e.to_string())),
        ("timeZone", "unknownTimeZone", zone.map(|e| e.to_string())),
    ];
    for (input, code, message) in wrong {
        if let Some(message) = message {
            let depth = builder.enter(input);
            builder.problem(code, message);
            builder.leave(depth);
        }
    }
}

/// The expression and the zone, and the first time after `now`, if there is one.
fn next(cx: &mut Cx<'_, '_>) -> Result<(String, String, Option<Timestamp>), Fault> {
    let expression = cx.text("cronExpression")?.unwrap_or_default();
    let cron = schedule::Cron::parse(&expression)
        .map_err(|e| Fault::new("InvalidCronExpression", e.to_string()))?;
    let name = cx
        .text("timeZone")?
        .filter(|name| !name.trim().is_empty())
        .unwrap_or_else(|| "UTC".into());
    let zone = zone(&name).map_err(|e| Fault::new("InvalidInput", e.to_string()))?;
    let next = cron.next(cx.now(), &zone);
    Ok((expression, name, next))
}

impl Activity for Cron {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        if cx.is_trigger() {
            return Ok(Then::DONE);
        }
        let (expression, _, due) = next(cx)?;
        // As in Elsa, what never comes is not waited for.
        let due = due.unwrap_or_else(|| cx.now());
        cx.wait_until(
            due,
            json!({ "ExecuteAt": due.to_string(), "CronExpression": expression }),
        );
        Ok(Then::Wait)
    }

    fn listen(&self, cx: &mut Cx<'_, '_>) -> Result<Vec<Listening>, Fault> {
        let (expression, zone, due) = next(cx)?;
        // Elsa reads six fields only. Triggers that were published with five go on.
        let count = expression.split_whitespace().count();
        if count < FIELDS && !expression.trim_start().starts_with('@') {
            let error = schedule::CronError::FieldCount { count };
            return Err(Fault::new("InvalidCronExpression", error.to_string()));
        }
        if due.is_none() {
            let message = format!("the cron expression `{expression}` never comes to pass again");
            return Err(Fault::new("InvalidCronExpression", message));
        }
        let payload = json!({ "CronExpression": expression });
        Ok(vec![Listening {
            name: CRON.into(),
            hashed: payload.clone(),
            payload,
            recurrence: Some(Recurrence::Cron { expression, zone }),
        }])
    }

    fn is_trigger(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, line, literal, variable};
    use crate::instance::SubStatus;
    use crate::schedule::Recurrence;
    use crate::time::Timestamp;

    fn cron(expression: &str, zone: &str) -> Scenario {
        let cron = json!({
            "id": "c", "type": "Elsa.Cron", "cronExpression": literal(expression), "timeZone": literal(zone),
            "customProperties": { "canStartWorkflow": true, "overlapPolicy": "skip" },
        });
        Scenario::sequence(json!({}), json!([cron, line("now")]))
    }

    #[test]
    fn in_the_middle_it_waits_for_the_next_time() {
        let mut scenario = cron("0 0 12 * * *", "Europe/Amsterdam").start();
        let bookmark = scenario.waiting_at("c");
        assert_eq!(bookmark.due(), Timestamp::parse("2026-03-02T11:00:00Z"));
        let payload =
            json!({ "ExecuteAt": "2026-03-02T11:00:00Z", "CronExpression": "0 0 12 * * *" });
        assert_eq!(bookmark.payload, payload);
        scenario.let_time_pass();
        assert_eq!(scenario.lines, ["now"]);
    }

    #[test]
    fn as_a_trigger_it_recurs_in_its_zone_and_keeps_its_policy() {
        let scenario = cron("0 0 * * * *", "");
        let trigger = scenario.triggers().unwrap().remove(0);
        let recurrence = Recurrence::Cron {
            expression: "0 0 * * * *".into(),
            zone: "UTC".into(),
        };
        assert_eq!(trigger.recurrence, Some(recurrence));
        assert_eq!(trigger.overlap_policy, "skip");
        assert_eq!(scenario.trigger("c", json!({})).lines, ["now"]);
    }

    #[test]
    fn a_bad_expression_is_one_error_that_says_where_and_why() {
        let problems = cron("BadCronExpression", "").validate();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].path, "root.activities[0].cronExpression");
        assert!(problems[0].is_error);
        assert!(
            problems[0]
                .message
                .starts_with("Error when parsing cron expression:")
        );
        assert!(problems[0].message.contains("between 0 and 59"));
        assert_eq!(cron("0 0 * * * *", "Nowhere").validate().len(), 1);
    }

    #[test]
    fn a_bad_expression_that_is_worked_out_is_an_incident_and_never_a_silence() {
        let cron = json!({ "type": "Elsa.Cron", "cronExpression": variable("When") });
        let scenario = Scenario::sequence(json!({ "When": "x" }), json!([cron])).start();
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    }

    #[test]
    fn what_never_comes_is_not_waited_for() {
        let cron = json!({ "id": "c", "type": "Elsa.Cron", "cronExpression": variable("When") });
        let variables = json!({ "When": "0 0 0 30 2 *" });
        let scenario = Scenario::sequence(variables, json!([cron, line("on")])).start();
        assert_eq!(scenario.waiting_at("c").due(), Some(scenario.now));
    }

    #[test]
    fn only_six_fields_start_workflows() {
        let cron = |text: &str| {
            let start = json!({ "canStartWorkflow": true });
            Scenario::of(
                json!({ "id": "c", "type": "Elsa.Cron", "cronExpression": literal(text), "customProperties": start }),
            )
        };
        assert_eq!(cron("0 0 0 1 1 *").triggers().unwrap().len(), 1);
        for refused in ["0 0 1 1 *", "  0 0 1 1 *  "] {
            let faults = cron(refused).triggers().unwrap_err();
            assert!(faults[0].1.message.contains("5 fields"), "{refused}");
        }
    }
}
