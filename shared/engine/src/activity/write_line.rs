//! `Elsa.WriteLine`: a line of text for whoever watches.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct WriteLine;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.WriteLine", "Console", "Writes a line of text.").input(
            "text",
            "String",
            "The text.",
        ),
        build: |_, _| Box::new(WriteLine),
    }
}

impl Activity for WriteLine {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let text = cx.text("text")?.unwrap_or_default();
        cx.write_line(text);
        Ok(Then::DONE)
    }
}
