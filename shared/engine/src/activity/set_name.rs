//! `Elsa.SetName`: gives the instance a name.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct SetName;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.SetName",
            "Primitives",
            "Sets the name of the workflow instance.",
        )
        .input("value", "String", "The name."),
        build: |_, _| Box::new(SetName),
    }
}

impl Activity for SetName {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let name = cx.text("value")?;
        cx.set_name(name);
        Ok(Then::DONE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, literal};

    #[test]
    fn the_instance_has_the_name() {
        let scenario =
            Scenario::of(json!({ "type": "Elsa.SetName", "value": literal("Order 17") })).start();
        assert_eq!(scenario.instance.name.as_deref(), Some("Order 17"));
    }
}
