//! `Elsa.FlowJoin`: where branches of a flowchart come together. The flowchart itself applies the mode.

use super::flowchart::Join;
use serde_json::Value;

use super::{Activity, BuiltIn, Descriptor};
use crate::definition::data_type::DataType;
use crate::graph::{Expression, Node, NodeIndex};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct FlowJoin;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.FlowJoin", "Branching", "Merges branches into one.")
            .input("mode", "FlowJoinMode", "Branches to wait for.")
            .default_value("WaitAny")
            .options(&["WaitAny", "WaitAll", "WaitAllActive"]),
        build: |_, _| Box::new(FlowJoin),
    }
}

/// The mode of a join. `None`: a script says it.
pub(crate) fn mode_of(node: &Node) -> Option<Join> {
    let mode = node.inputs.iter().find(|i| i.name == "mode");
    match mode.and_then(|i| i.expression.as_ref()) {
        Some(Expression::Literal(value)) => Some(mode_named(value)),
        Some(
            Expression::Variable(_)
            | Expression::Input(_)
            | Expression::Secret(_)
            | Expression::Script(_)
            | Expression::Invalid(_),
        ) => None,
        None => Some(Join::Any),
    }
}

/// The mode that a script gives, evaluated in the flowchart whenever a branch comes.
pub(crate) fn scripted(cx: &mut Cx<'_, '_>, node: NodeIndex) -> Result<Join, Fault> {
    let graph = cx.graph();
    let mut inputs = graph.node(node).inputs.iter();
    let expression = inputs
        .find(|i| i.name == "mode")
        .and_then(|i| i.expression.as_ref());
    match expression {
        Some(expression) => Ok(mode_named(&cx.evaluate(expression, &DataType::JoinMode)?)),
        None => Ok(Join::Any),
    }
}

/// The mode of a name. Without a value it is the activity's default.
fn mode_named(value: &Value) -> Join {
    match value.as_str() {
        Some("WaitAll") => Join::All,
        Some("WaitAllActive") => Join::AllActive,
        Some(_) | None => Join::Any,
    }
}

impl Activity for FlowJoin {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        cx.join()?;
        Ok(Then::DONE)
    }
}
