//! `Elsa.Break`: ends the nearest loop around it.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct Break;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.Break", "Looping", "Ends the enclosing loop.").terminal(),
        build: |_, _| Box::new(Break),
    }
}

impl Activity for Break {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        cx.send_break();
        Ok(Then::DONE)
    }

    fn is_terminal(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, line, literal, sequence};
    use crate::instance::SubStatus;

    fn lines(activities: Value) -> Vec<String> {
        let scenario = Scenario::of(sequence(activities)).start();
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
        scenario.lines
    }

    fn stop() -> Value {
        json!({ "type": "Elsa.Break" })
    }

    #[test]
    fn each_kind_of_loop_is_ended_and_what_follows_runs() {
        let body = sequence(json!([line("round"), stop(), line("never")]));
        let loops = [
            json!({ "type": "Elsa.While", "condition": literal(true), "body": body }),
            json!({ "type": "Elsa.For", "end": literal(9), "body": body }),
            json!({ "type": "Elsa.ForEach", "items": literal(json!([1, 2])), "body": body }),
        ];
        for around in loops {
            assert_eq!(lines(json!([around, line("after")])), ["round", "after"]);
        }
    }

    #[test]
    fn sequences_without_a_loop_end_with_it() {
        assert_eq!(lines(json!([line("a"), stop(), line("b")])), ["a"]);
        let inner = sequence(json!([line("inner"), stop(), line("never")]));
        assert_eq!(
            lines(json!([line("outer"), inner, line("never")])),
            ["outer", "inner"]
        );
    }

    #[test]
    fn it_goes_through_an_if() {
        let choice = json!({ "type": "Elsa.If", "condition": literal(true), "then": stop() });
        assert_eq!(lines(json!([line("a"), choice, line("never")])), ["a"]);
    }

    #[test]
    fn only_the_inner_loop_ends() {
        let inner = json!({
            "type": "Elsa.ForEach", "items": literal(json!([1, 2])),
            "body": sequence(json!([line("inner"), stop()])),
        });
        let outer = json!({
            "type": "Elsa.ForEach", "items": literal(json!([1, 2])),
            "body": sequence(json!([line("outer"), inner])),
        });
        assert_eq!(lines(json!([outer])), ["outer", "inner", "outer", "inner"]);
    }

    #[test]
    fn a_flowchart_ends_with_it() {
        let chart = json!({
            "type": "Elsa.Flowchart",
            "activities": [{ "id": "b", "type": "Elsa.Break" }, { "id": "w", "type": "Elsa.WriteLine", "text": "never" }],
            "connections": [{ "source": { "activity": "b" }, "target": { "activity": "w" } }],
        });
        let loop_ = json!({ "type": "Elsa.While", "condition": literal(true), "body": chart });
        assert_eq!(lines(json!([loop_, line("after")])), ["after"]);
    }
}
