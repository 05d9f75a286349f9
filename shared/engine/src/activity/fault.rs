//! `Elsa.Fault`: fails on purpose.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct Throw;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.Fault",
            "Primitives",
            "Faults with a code and a message.",
        )
        .input("code", "String", "Code of the fault.")
        .default_value("0")
        .input(
            "category",
            "String",
            "Category of the fault, such as HTTP or Alteration.",
        )
        .default_value("General")
        .input(
            "faultType",
            "String",
            "Type of the fault: system or business.",
        )
        .default_value("System")
        .input("message", "String", "Message of the fault."),
        build: |_, _| Box::new(Throw),
    }
}

impl Activity for Throw {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let code = cx.text("code")?.unwrap_or_default();
        let message = match cx.text("message")? {
            Some(message) => message,
            None => format!("The workflow failed with the code {code}."),
        };
        Err(Fault::new("FaultException", message)
            .with("code", code)
            .with("category", cx.text("category")?)
            .with("type", cx.text("faultType")?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, literal};
    use crate::instance::SubStatus;

    #[test]
    fn the_incident_carries_everything() {
        let fault = json!({
            "id": "f", "type": "Elsa.Fault", "code": literal("110002"), "category": literal("failure"),
            "message": literal("that went south"),
        });
        let scenario = Scenario::of(fault).start();
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        let incident = &scenario.instance.incidents[0];
        assert_eq!(incident.message, "that went south");
        let exception = incident.exception.as_ref().unwrap();
        let expected = json!({ "code": "110002", "category": "failure", "type": "System" });
        assert_eq!(json!(exception.metadata), expected);
    }
}
