//! `Elsa.Switch`: the activity of the first case that holds, or of all that do.

use super::case::{self, Case};
use super::parallel::when_all_ended;
use super::{Activity, BuiltIn, Descriptor};
use crate::graph::NodeIndex;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct Switch {
    cases: Vec<Case>,
    default: Option<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.Switch",
            "Branching",
            "Runs the activities of the matching cases.",
        )
        .plain(
            "cases",
            "SwitchCase[]",
            "The cases, each with a condition and an activity.",
        )
        .with_plain(|p| p.ui_hint = "switch-editor")
        .input(
            "mode",
            "SwitchMode",
            "Selects the first matching case or every matching case.",
        )
        .default_value("MatchFirst")
        .options(&["MatchFirst", "MatchAny"])
        .port("default")
        .output(
            "output",
            "Object",
            "Never set. It exists for definitions that bind it.",
        ),
        build: |builder, fields| {
            Box::new(Switch {
                cases: case::read(builder, fields),
                default: builder.child(fields, "default"),
            })
        },
    }
}

impl Activity for Switch {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let matching = case::matching(cx, &self.cases)?;
        if matching.is_empty() {
            if let Some(default) = self.default {
                cx.schedule(default);
            }
        } else {
            for activity in matching.into_iter().filter_map(|c| c.activity) {
                cx.schedule(activity);
            }
        }
        Ok(when_all_ended(cx))
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(when_all_ended(cx))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, event, line, literal, sequence};

    fn case(holds: bool, activity: Value) -> Value {
        json!({ "label": "x", "condition": { "type": "Literal", "value": holds }, "activity": activity })
    }

    fn switch(mode: &str, cases: Value) -> Scenario {
        let switch = json!({
            "type": "Elsa.Switch", "mode": literal(mode), "cases": cases, "default": line("default"),
        });
        Scenario::of(sequence(json!([switch, line("after")]))).start()
    }

    #[test]
    fn the_first_match_counts() {
        let cases = json!([
            case(false, line("a")),
            case(true, line("b")),
            case(true, line("c"))
        ]);
        assert_eq!(switch("MatchFirst", cases).lines, ["b", "after"]);
    }

    #[test]
    fn every_match_counts() {
        let cases = json!([
            case(true, line("a")),
            case(false, line("b")),
            case(true, line("c"))
        ]);
        assert_eq!(switch("MatchAny", cases).lines, ["a", "c", "after"]);
    }

    #[test]
    fn the_default_runs_when_nothing_holds() {
        let cases =
            json!([case(false, line("a")), { "label": "no condition", "activity": line("b") }]);
        assert_eq!(switch("MatchFirst", cases).lines, ["default", "after"]);
    }

    #[test]
    fn a_match_without_an_activity_ends_at_once() {
        assert_eq!(
            switch("MatchFirst", json!([case(true, Value::Null)])).lines,
            ["after"]
        );
    }

    #[test]
    fn it_waits_for_all_that_it_scheduled() {
        let cases = json!([case(true, event("e1")), case(true, event("e2"))]);
        let mut scenario = switch("MatchAny", cases);
        scenario.resume("e1", json!({}));
        assert!(scenario.lines.is_empty());
        scenario.resume("e2", json!({}));
        assert_eq!(scenario.lines, ["after"]);
    }
}
