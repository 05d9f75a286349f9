//! `Elsa.SetOutput`: gives an output of the workflow a value.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct SetOutput;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.SetOutput",
            "Composition",
            "Sets an output of the workflow.",
        )
        .input("outputName", "String", "The output.")
        .hint("output-picker")
        .input("outputValue", "Object", "The value."),
        build: |_, _| Box::new(SetOutput),
    }
}

impl Activity for SetOutput {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        // What is written for others has the names that a serialiser gives.
        let value = cx.input("outputValue")?;
        let value = cx.logged_input("outputValue").unwrap_or(value);
        match cx.text("outputName")?.filter(|name| !name.is_empty()) {
            Some(name) => cx.set_workflow_output(&name, value),
            None => return Err(Fault::new("InvalidInput", "SetOutput names no output")),
        }
        Ok(Then::DONE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, literal};

    #[test]
    fn the_instance_keeps_the_output() {
        let set = json!({ "type": "Elsa.SetOutput", "outputName": literal("Result"), "outputValue": literal(42) });
        let scenario = Scenario::of(set).start();
        assert_eq!(scenario.instance.output.get("Result"), Some(&json!(42)));
    }

    #[test]
    fn without_a_name_it_is_an_incident() {
        assert_eq!(
            Scenario::of(json!({ "type": "Elsa.SetOutput" }))
                .start()
                .incidents()
                .len(),
            1
        );
    }
}
