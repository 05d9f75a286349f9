//! `Elsa.Finish`: ends the instance at once.

use super::{Activity, BuiltIn, Descriptor};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct Finish;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.Finish",
            "Primitives",
            "Ends the workflow and cancels everything that is still open.",
        )
        .terminal(),
        build: |_, _| Box::new(Finish),
    }
}

impl Activity for Finish {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        cx.finish();
        Ok(Then::Wait)
    }

    fn is_terminal(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, event, line, sequence};
    use crate::instance::SubStatus;
    use crate::journal::Event;

    #[test]
    fn nothing_is_left_of_what_was_waiting_or_due() {
        let finish = json!({ "id": "f", "type": "Elsa.Finish" });
        let branches = [
            event("e1"),
            event("e2"),
            sequence(json!([finish, line("never")])),
            line("due"),
        ];
        let fork = json!({ "type": "Elsa.Fork", "branches": branches });
        let scenario = Scenario::of(sequence(json!([line("a"), fork, line("never")]))).start();
        assert_eq!(scenario.lines, ["a", "due"]);
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
        assert!(scenario.instance.bookmarks.is_empty());
        assert!(scenario.instance.queue.is_empty());
        assert!(scenario.instance.contexts.is_empty());
        assert_eq!(scenario.journaled("f", Event::Completed).len(), 1);
    }
}
