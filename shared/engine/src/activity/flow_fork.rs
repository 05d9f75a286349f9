//! `Elsa.FlowFork`: several ways at once in a flowchart.

use serde_json::Value;

use super::{Activity, BuiltIn, Descriptor};
use crate::definition::convert::text_of;
use crate::step::{Cx, Fault, Outcomes, Then};

#[derive(Debug)]
struct FlowFork;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.FlowFork",
            "Branching",
            "Follows the connections of all its branches.",
        )
        .titled("Fork (flow)")
        .input(
            "branches",
            "String[]",
            "The names of the branches; each is an outcome.",
        )
        .hint("dynamic-outcomes"),
        build: |_, _| Box::new(FlowFork),
    }
}

impl Activity for FlowFork {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        Ok(match cx.input("branches")? {
            Value::Array(names) => {
                Then::Complete(Outcomes::Named(names.into_iter().map(text_of).collect()))
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => Then::DONE,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, literal};

    #[test]
    fn every_branch_is_an_outcome() {
        let fork = |branches| json!({ "id": "f", "type": "Elsa.FlowFork", "branches": branches });
        let two = Scenario::of(fork(literal(json!(["left", "right"])))).start();
        assert_eq!(two.outcomes("f"), json!(["left", "right"]));
        assert_eq!(
            Scenario::of(fork(json!(null))).start().outcomes("f"),
            json!(["Done"])
        );
    }
}
