//! `Dormouse.Compensate`: undoes what has completed, in reverse order of completion.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct Compensate;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Dormouse.Compensate",
            "Errors",
            "Undoes what has completed, in reverse order of completion, each activity once by its `compensate`.",
        )
        .input(
            "activity",
            "String",
            "Id or name of the activity to undo, or of a container of such. Empty: all in the nearest TryCatch around, else in the workflow.",
        ),
        build: |_, _| Box::new(Compensate),
    }
}

impl Activity for Compensate {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let name = cx.text("activity")?;
        let name = name
            .as_deref()
            .map(str::trim)
            .filter(|name| !name.is_empty());
        cx.compensate(name)
    }
}
