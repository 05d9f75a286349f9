//! `Elsa.FlowNode`: an activity in a frame of its own.

use super::{Activity, BuiltIn, Descriptor};
use crate::graph::NodeIndex;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct FlowNode {
    body: Option<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.FlowNode", "Flow", "Runs the activity inside it.")
            .titled("Container")
            .port("body"),
        build: |builder, fields| {
            Box::new(FlowNode {
                body: builder.child(fields, "body"),
            })
        },
    }
}

impl Activity for FlowNode {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        Ok(match self.body {
            Some(body) => {
                cx.schedule(body);
                Then::Wait
            }
            None => Then::DONE,
        })
    }

    fn child_ended(&self, _cx: &mut Cx<'_, '_>, child: &Ended) -> Result<Then, Fault> {
        Ok(Then::Complete(child.outcomes.clone()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, line, literal};

    #[test]
    fn the_end_of_the_body_is_passed_on() {
        let decision = json!({ "type": "Elsa.FlowDecision", "condition": literal(true) });
        let node = |body| json!({ "id": "n", "type": "Elsa.FlowNode", "body": body });
        assert_eq!(
            Scenario::of(node(decision)).start().outcomes("n"),
            json!(["True"])
        );
        assert_eq!(Scenario::of(node(line("x"))).start().lines, ["x"]);
        assert_eq!(
            Scenario::of(node(json!(null))).start().outcomes("n"),
            json!(["Done"])
        );
    }
}
