//! `Elsa.FlowDecision`: one way or the other in a flowchart.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Outcomes, Then};

#[derive(Debug)]
struct FlowDecision;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.FlowDecision",
            "Branching",
            "Evaluates a condition and follows the connection `True` or `False`.",
        )
        .titled("Decision")
        .input("condition", "Boolean", "Condition to evaluate.")
        .default_value(false)
        .outcomes(&["True", "False"]),
        build: |_, _| Box::new(FlowDecision),
    }
}

impl Activity for FlowDecision {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let outcome = if cx.flag("condition")? {
            "True"
        } else {
            "False"
        };
        Ok(Then::Complete(Outcomes::one(outcome)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, literal};

    #[test]
    fn the_condition_is_the_outcome() {
        for (condition, outcome) in [
            (json!(true), "True"),
            (json!("false"), "False"),
            (json!(null), "False"),
        ] {
            let decision =
                json!({ "id": "d", "type": "Elsa.FlowDecision", "condition": literal(condition) });
            assert_eq!(
                Scenario::of(decision).start().outcomes("d"),
                json!([outcome])
            );
        }
    }
}
