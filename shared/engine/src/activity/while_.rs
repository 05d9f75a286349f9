//! `Elsa.While`: again and again as long as a condition holds.

use super::{Activity, BuiltIn, Descriptor};
use crate::graph::NodeIndex;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct While {
    body: Option<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.While",
            "Looping",
            "Runs an activity as long as a condition holds.",
        )
        .input(
            "condition",
            "Boolean",
            "Condition, evaluated before every iteration.",
        )
        .default_value(false)
        .lazy()
        .port("body"),
        build: |builder, fields| {
            Box::new(While {
                body: builder.child(fields, "body"),
            })
        },
    }
}

impl While {
    fn round(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        // Without a body nothing could ever change the condition.
        let Some(body) = self.body else {
            return Ok(Then::DONE);
        };
        if !cx.flag("condition")? {
            return Ok(Then::DONE);
        }
        cx.schedule(body);
        Ok(Then::Wait)
    }
}

impl Activity for While {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        self.round(cx)
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        if cx.is_broken() {
            return Ok(Then::DONE);
        }
        self.round(cx)
    }

    fn is_loop(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, event, line, literal, sequence, set, variable};
    use crate::instance::SubStatus;

    fn round_trip(condition: Value, body: Value) -> Scenario {
        let while_ = json!({ "type": "Elsa.While", "condition": condition, "body": body });
        Scenario::sequence(json!({ "go": true }), json!([while_, line("after")])).start()
    }

    #[test]
    fn the_condition_is_read_before_every_round() {
        let body = sequence(json!([line("round"), set("go", false)]));
        assert_eq!(round_trip(variable("go"), body).lines, ["round", "after"]);
    }

    #[test]
    fn a_false_condition_never_runs_the_body() {
        assert_eq!(round_trip(literal(false), line("round")).lines, ["after"]);
    }

    #[test]
    fn a_waiting_body_goes_on_with_the_next_round() {
        let mut scenario = round_trip(variable("go"), sequence(json!([event("e"), line("round")])));
        scenario.resume("e", json!({}));
        scenario.resume("e", json!({}));
        assert_eq!(scenario.lines, ["round", "round"]);
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
    }

    #[test]
    fn a_loop_without_end_is_an_incident_and_not_a_hang() {
        let scenario = round_trip(literal(true), line("x"));
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        assert!(scenario.incidents()[0].contains("burst_activities_max"));
        assert_eq!(round_trip(literal(true), json!(null)).lines, ["after"]);
    }
}
