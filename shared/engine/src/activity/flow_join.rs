//! `Elsa.FlowJoin`: where branches of a flowchart come together. The flowchart itself applies the mode.

use super::flowchart::Join;
use super::{Activity, BuiltIn, Descriptor};
use crate::graph::{Expression, Node};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct FlowJoin;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.FlowJoin", "Branching", "Merges branches into one.")
            .input("mode", "FlowJoinMode", "Which branches it waits for.")
            .default_value("WaitAny")
            .options(&["WaitAny", "WaitAll", "WaitAllActive"]),
        build: |_, _| Box::new(FlowJoin),
    }
}

/// The mode of a join. It is decided before anything runs, so only a literal counts.
pub(crate) fn mode_of(node: &Node) -> Join {
    let mode = node
        .inputs
        .iter()
        .find(|i| i.name == "mode")
        .and_then(|i| match &i.expression {
            Some(Expression::Literal(value)) => value.as_str().map(str::to_ascii_lowercase),
            Some(
                Expression::Variable(_)
                | Expression::Input(_)
                | Expression::Script(_)
                | Expression::Invalid(_),
            )
            | None => None,
        });
    match mode.as_deref() {
        Some("waitall" | "1") => Join::All,
        Some("waitallactive" | "2") => Join::AllActive,
        Some(_) | None => Join::Any,
    }
}

impl Activity for FlowJoin {
    fn execute(&self, _cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        Ok(Then::DONE)
    }
}
