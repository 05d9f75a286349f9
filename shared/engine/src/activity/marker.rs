//! `Elsa.Start` and `Elsa.End`: marks in a flowchart. The first is where it begins, the second ends it.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

/// Does nothing.
#[derive(Debug)]
pub struct Marker;

impl Activity for Marker {
    fn execute(&self, _cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        Ok(Then::DONE)
    }
}

/// Ends what it is in.
#[derive(Debug)]
struct End;

impl Activity for End {
    fn execute(&self, _cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        Ok(Then::DONE)
    }

    fn is_terminal(&self) -> bool {
        true
    }
}

/// `Elsa.Start`.
pub(crate) fn start() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.Start", "Primitives", "Start of a flowchart."),
        build: |_, _| Box::new(Marker),
    }
}

/// `Elsa.End`.
pub(crate) fn end() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.End",
            "Primitives",
            "Ends the enclosing flowchart or sequence.",
        )
        .terminal(),
        build: |_, _| Box::new(End),
    }
}
