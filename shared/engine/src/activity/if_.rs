//! `Elsa.If`: one branch or the other.

use serde_json::Value;

use super::{Activity, BuiltIn, Descriptor};
use crate::graph::NodeIndex;
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct If {
    then: Option<NodeIndex>,
    otherwise: Option<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.If",
            "Branching",
            "Evaluates a condition and runs one of two activities.",
        )
        .input("condition", "Boolean", "Condition to evaluate.")
        .default_value(false)
        .port("then")
        .port("else")
        .output("result", "Boolean", "Value of the condition."),
        build: |builder, fields| {
            Box::new(If {
                then: builder.child(fields, "then"),
                otherwise: builder.child(fields, "else"),
            })
        },
    }
}

impl Activity for If {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let condition = cx.flag("condition")?;
        cx.set_output("result", Value::Bool(condition));
        match if condition { self.then } else { self.otherwise } {
            Some(branch) => {
                cx.schedule(branch);
                Ok(Then::Wait)
            }
            None => Ok(Then::DONE),
        }
    }
}
