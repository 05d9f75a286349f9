//! `Elsa.Fork`: branches side by side, until all or the first of them has ended.

use super::parallel::when_all_ended;
use super::{Activity, BuiltIn, Descriptor};
use crate::graph::NodeIndex;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct Fork {
    branches: Vec<NodeIndex>,
    /// The first branch to end ends the fork, and the others are cancelled.
    is_race: bool,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.Fork", "Branching", "Runs branches concurrently.")
            .plain(
                "joinMode",
                "ForkJoinMode",
                "Wait for all branches, or for the first.",
            )
            .with_plain(|p| {
                p.default = "WaitAll".into();
                p.options = vec!["WaitAll", "WaitAny"];
                p.ui_hint = "dropdown";
            })
            .plain("branches", "Object[]", "The branches."),
        build: |builder, fields| {
            let mode = fields.text("joinMode").unwrap_or_default();
            Box::new(Fork {
                branches: builder.children(fields, "branches"),
                // Numbers are Elsa's enum values.
                is_race: mode.eq_ignore_ascii_case("WaitAny") || mode == "1",
            })
        },
    }
}

impl Activity for Fork {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        for branch in &self.branches {
            cx.schedule(*branch);
        }
        Ok(when_all_ended(cx))
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        if self.is_race || cx.is_broken() {
            return Ok(Then::DONE);
        }
        Ok(when_all_ended(cx))
    }

    fn child_cancelled(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(when_all_ended(cx))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, event, line, literal, sequence};
    use crate::instance::SubStatus;
    use crate::journal::Event;
    use crate::step::Stimulus;

    fn fork(mode: &str, branches: Value) -> Scenario {
        let fork = json!({ "type": "Elsa.Fork", "joinMode": mode, "branches": branches });
        Scenario::of(sequence(json!([line("Start"), fork, line("End")]))).start()
    }

    fn branch(number: u32) -> Value {
        sequence(json!([
            line(&format!("Branch {number}")),
            event(&format!("Event{number}")),
            line(&format!("Branch {number} - Resumed")),
        ]))
    }

    #[test]
    fn a_branch_waits_again_where_it_waited_when_the_other_is_retried() {
        let fails_once =
            "if (!getVariable('Tried')) { setVariable('Tried', true); throw new Error('once') }";
        let script =
            json!({ "id": "js", "type": "Elsa.RunJavaScript", "script": literal(fails_once) });
        let fork = json!({ "type": "Elsa.Fork", "joinMode": "WaitAll", "branches": [event("Go"), script] });
        let mut scenario =
            Scenario::sequence(json!({ "Tried": false }), json!([fork, line("End")])).start();
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        assert!(scenario.instance.bookmarks.is_empty());
        assert_eq!(scenario.instance.left.len(), 1);

        scenario.play(Stimulus::Retry {
            activity_ids: Vec::new(),
        });
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
        assert!(scenario.instance.left.is_empty());
        assert_eq!(scenario.journaled("Go", Event::Suspended).len(), 1);
        assert!(scenario.resume("Go", Value::Null));
        assert_eq!(scenario.lines, ["End"]);
    }

    #[test]
    fn the_first_branch_wins_and_the_other_is_cancelled() {
        let branches = json!([
            event("Event1"),
            sequence(json!([event("Event2"), line("Branch 2")])),
        ]);
        let mut scenario = fork("WaitAny", branches);
        scenario.resume("Event2", json!({}));
        assert_eq!(scenario.lines, ["Start", "Branch 2", "End"]);
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
        assert!(scenario.instance.bookmarks.is_empty());
    }

    #[test]
    fn all_branches_are_waited_for() {
        let mut scenario = fork("WaitAll", json!([branch(1), branch(2)]));
        scenario.resume("Event1", json!({}));
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
        scenario.resume("Event2", json!({}));
        let expected = "Start,Branch 1,Branch 2,Branch 1 - Resumed,Branch 2 - Resumed,End";
        assert_eq!(scenario.lines.join(","), expected);
    }

    #[test]
    fn a_break_in_a_branch_ends_the_fork_and_the_loop() {
        let first = sequence(json!([
            line("Branch 1"),
            event("Event1"),
            line("Branch 1 - Resumed"),
            { "type": "Elsa.Break" },
        ]));
        let fork = json!({ "type": "Elsa.Fork", "branches": [first, branch(2)] });
        let while_ = json!({
            "type": "Elsa.While", "condition": literal(true), "body": sequence(json!([fork])),
        });
        let root = sequence(json!([line("Start"), while_, line("End")]));
        let mut scenario = Scenario::of(root).start();
        scenario.resume("Event1", json!({}));
        let expected = "Start,Branch 1,Branch 2,Branch 1 - Resumed,End";
        assert_eq!(scenario.lines.join(","), expected);
        assert!(scenario.instance.bookmarks.is_empty());
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn without_branches_it_goes_on() {
        assert_eq!(fork("WaitAny", json!([])).lines, ["Start", "End"]);
    }
}
