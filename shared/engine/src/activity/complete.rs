//! `Elsa.Complete`: ends the nearest workflow, or workflow used as an activity, around it.

use serde_json::Value;

use super::{Activity, BuiltIn, Descriptor};
use crate::definition::convert::text_of;
use crate::step::{Cx, Fault, Outcomes, Then};

#[derive(Debug)]
struct Complete;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.Complete",
            "Composition",
            "Completes the enclosing workflow with outcomes.",
        )
        .input("outcomes", "Object", "The outcome, or a list of them.")
        .hint("outcome-picker")
        .terminal(),
        build: |_, _| Box::new(Complete),
    }
}

/// One name, a list of names, or a list as JSON text; anything else is `Done`.
fn outcomes(value: Value) -> Outcomes {
    match value {
        Value::String(text) if text.trim_start().starts_with('[') => {
            match serde_json::from_str::<Vec<String>>(&text) {
                Ok(names) => Outcomes::Named(names),
                Err(_) => Outcomes::one(text),
            }
        }
        Value::String(text) if !text.is_empty() => Outcomes::one(text),
        Value::Array(names) => Outcomes::Named(names.into_iter().map(text_of).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Outcomes::Done
        }
    }
}

impl Activity for Complete {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let outcomes = outcomes(cx.input("outcomes")?);
        cx.complete_composite(outcomes);
        Ok(Then::Wait)
    }

    fn is_terminal(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::outcomes;
    use crate::activity::scenario::{Scenario, event, line, literal, sequence};
    use crate::instance::SubStatus;
    use crate::journal::Event;
    use crate::step::Outcomes;

    fn complete(value: Value) -> Value {
        json!({ "id": "c", "type": "Elsa.Complete", "outcomes": literal(value) })
    }

    #[test]
    fn outcomes_come_as_text_list_or_json() {
        assert_eq!(outcomes(json!("Success")), Outcomes::one("Success"));
        assert_eq!(outcomes(json!(["a", "b"])).names(), ["a", "b"]);
        assert_eq!(outcomes(json!("[\"a\",\"b\"]")).names(), ["a", "b"]);
        assert_eq!(outcomes(json!(null)), Outcomes::Done);
        assert_eq!(outcomes(json!({ "x": 1 })), Outcomes::Done);
    }

    #[test]
    fn the_workflow_ends_and_what_is_pending_is_cancelled() {
        let ends = sequence(json!([
            line("a"),
            complete(json!("Success")),
            line("never")
        ]));
        let fork = json!({ "type": "Elsa.Fork", "branches": [event("e"), ends] });
        let scenario = Scenario::of(sequence(json!([fork, line("never")]))).start();
        assert_eq!(scenario.lines, ["a"]);
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
        assert_eq!(scenario.journaled("e", Event::Canceled).len(), 1);
        assert_eq!(scenario.journaled("c", Event::Completed).len(), 1);
        assert_eq!(scenario.outcomes("Workflow1"), json!(["Success"]));
    }

    #[test]
    fn a_loop_is_cancelled_and_the_workflow_ends() {
        let each = json!({
            "id": "each", "type": "Elsa.ForEach", "items": literal(json!([1, 2])),
            "body": sequence(json!([line("a"), complete(json!(null))])),
        });
        let scenario = Scenario::of(sequence(json!([each, line("b")]))).start();
        assert_eq!(scenario.lines, ["a"]);
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
        assert_eq!(scenario.journaled("c", Event::Canceled).len(), 1);
        assert_eq!(scenario.journaled("each", Event::Canceled).len(), 1);
    }
}
