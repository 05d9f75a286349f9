//! `Elsa.Correlate`: gives the instance a correlation id, by which events find it.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct Correlate;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.Correlate",
            "Primitives",
            "Sets the correlation id of the workflow instance.",
        )
        .input(
            "correlationId",
            "String",
            "The id, such as an order number.",
        ),
        build: |_, _| Box::new(Correlate),
    }
}

impl Activity for Correlate {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let id = cx.text("correlationId")?;
        cx.set_correlation_id(id);
        Ok(Then::DONE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, literal};

    #[test]
    fn the_instance_has_the_id() {
        let correlate = json!({ "type": "Elsa.Correlate", "correlationId": literal(17) });
        let scenario = Scenario::of(correlate).start();
        assert_eq!(scenario.instance.correlation_id.as_deref(), Some("17"));
    }
}
