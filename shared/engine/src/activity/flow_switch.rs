//! `Elsa.FlowSwitch`: the labels of the cases that hold are its outcomes.

use super::case::{self, Case};
use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Outcomes, Then};

#[derive(Debug)]
struct FlowSwitch {
    cases: Vec<Case>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.FlowSwitch",
            "Branching",
            "Follows the connections of the matching cases.",
        )
        .titled("Switch (flow)")
        .plain(
            "cases",
            "FlowSwitchCase[]",
            "The cases, each with a condition; the label is the outcome.",
        )
        .with_plain(|p| p.ui_hint = "flow-switch-editor")
        .input(
            "mode",
            "SwitchMode",
            "Selects the first matching case or every matching case.",
        )
        .default_value("MatchFirst")
        .options(&["MatchFirst", "MatchAny"])
        .outcomes(&["Default"]),
        build: |builder, fields| {
            Box::new(FlowSwitch {
                cases: case::read(builder, fields),
            })
        },
    }
}

impl Activity for FlowSwitch {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let matching = case::matching(cx, &self.cases)?;
        let outcomes = if matching.is_empty() {
            Outcomes::one("Default")
        } else {
            Outcomes::Named(matching.into_iter().map(|c| c.label.clone()).collect())
        };
        Ok(Then::Complete(outcomes))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, literal};

    fn outcomes(mode: &str, holding: [bool; 3]) -> Value {
        let case = |(place, holds): (usize, bool)| json!({ "label": format!("c{place}"), "condition": { "type": "Literal", "value": holds } });
        let cases: Vec<_> = holding.into_iter().enumerate().map(case).collect();
        let switch =
            json!({ "id": "s", "type": "Elsa.FlowSwitch", "mode": literal(mode), "cases": cases });
        Scenario::of(switch).start().outcomes("s")
    }

    #[test]
    fn labels_of_matches_are_outcomes() {
        assert_eq!(outcomes("MatchFirst", [false, true, true]), json!(["c1"]));
        assert_eq!(
            outcomes("MatchAny", [true, false, true]),
            json!(["c0", "c2"])
        );
        assert_eq!(outcomes("MatchAny", [false; 3]), json!(["Default"]));
    }
}
