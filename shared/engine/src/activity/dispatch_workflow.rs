//! `Elsa.DispatchWorkflow`: lets another workflow start on its own, and if asked waits for its end.
//!
//! Elsa fails at once when the workflow is not published, so the shell is asked first, and the child leaves with the
//! commit of the answer. Should the workflow go away between, a parent that waits is told and fails then.

use serde_json::Value;

use super::child_start::{End, child, definition_id, hold, input, not_found, note_given, release};
use super::{Activity, BuiltIn, Descriptor};
use crate::call::{Answer, Request};
use crate::instance::Bookmark;
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct DispatchWorkflow;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.DispatchWorkflow",
            "Composition",
            "Starts another workflow, which runs independently.",
        )
        .input(
            "workflowDefinitionId",
            "String",
            "Id of the workflow definition. Its published version runs.",
        )
        .hint("workflow-definition-picker")
        .input(
            "correlationId",
            "String",
            "Correlation id of the new instance.",
        )
        .input("input", "ObjectDictionary", "Input of the workflow.")
        .input(
            "waitForCompletion",
            "Boolean",
            "Wait for the end of the workflow.",
        )
        .default_value(false)
        .input("startNewTrace", "Boolean", "Start a trace of its own.")
        .default_value(false)
        .input(
            "channelName",
            "String",
            "The channel; there is the default one only.",
        )
        .output(
            "result",
            "Object",
            "Output of the workflow, if it was waited for.",
        ),
        build: |_, _| Box::new(DispatchWorkflow),
    }
}

/// Goes on only if the workflow is there.
pub(super) fn expect_found(answer: Answer) -> Result<(), Fault> {
    match answer {
        Answer::Found => Ok(()),
        Answer::NotStarted { message } => Err(not_found(message)),
        other @ (Answer::Http { .. }
        | Answer::FailedToConnect { .. }
        | Answer::TimedOut
        | Answer::Refused { .. }
        | Answer::Executed { .. }) => {
            let message =
                format!("the question whether the workflow is there was answered by {other:?}");
            Err(Fault::new("UnexpectedAnswer", message))
        }
    }
}

/// The failure of a dispatch to a channel that there is not.
fn expect_channel(cx: &mut Cx<'_, '_>) -> Result<(), Fault> {
    match cx.text("channelName")?.filter(|name| !name.is_empty()) {
        Some(name) => {
            let message = format!("there is no channel `{name}`; leave it out for the default one");
            Err(Fault::new("InvalidOperationException", message))
        }
        None => Ok(()),
    }
}

impl Activity for DispatchWorkflow {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let definition_id = definition_id(cx)?;
        expect_channel(cx)?;
        let correlation_id = cx.text("correlationId")?;
        let (input, is_given) = input(cx)?;
        let waiting = cx
            .flag("waitForCompletion")?
            .then(|| cx.wait_for_resume(Value::Null, true));
        let child = child(cx, &definition_id, correlation_id, input, waiting.as_ref());
        if is_given {
            cx.note_input("input", &Value::Object(child.start.input.clone()));
        }
        hold(cx, &[child]);
        cx.call(Request::FindWorkflow { definition_id });
        Ok(Then::Wait)
    }

    fn answered(
        &self,
        cx: &mut Cx<'_, '_>,
        _bookmark: &Bookmark,
        answer: Answer,
    ) -> Result<Then, Fault> {
        expect_found(answer)?;
        let children = release(cx);
        let is_waited_for = |c: &crate::effect::Child| {
            c.start
                .parent
                .as_ref()
                .is_some_and(|p| p.bookmark.is_some())
        };
        Ok(if children.iter().any(is_waited_for) {
            Then::Wait
        } else {
            Then::DONE
        })
    }

    fn resumed(&self, cx: &mut Cx<'_, '_>, _bookmark: &Bookmark) -> Result<Then, Fault> {
        let end = End::read(cx)?;
        note_given(cx)?;
        cx.set_output("result", end.output);
        Ok(Then::DONE)
    }

    fn makes_calls(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::activity::scenario::{Scenario, bound, literal, write};
    use crate::call::{Answer, Request};
    use crate::effect::{Child, Effect};
    use crate::instance::SubStatus;
    use crate::step::not_started;

    fn parent(waits: bool) -> Scenario {
        let dispatch = json!({
            "id": "d", "type": "Elsa.DispatchWorkflow", "workflowDefinitionId": literal("child"),
            "input": literal(json!({ "Message": "hi" })), "waitForCompletion": literal(waits), "result": bound("Got"),
        });
        Scenario::sequence(json!({ "Got": null }), json!([dispatch, write("Got")])).start()
    }

    fn dispatched(scenario: &Scenario) -> Child {
        let child = |e: &Effect| match e {
            Effect::StartChild(child) => Some(child.clone()),
            Effect::Timer { .. }
            | Effect::PublishEvent { .. }
            | Effect::RequestTask { .. }
            | Effect::Perform { .. }
            | Effect::ResumeParent { .. }
            | Effect::CancelChild { .. }
            | Effect::CallInBackground { .. } => None,
        };
        scenario
            .effects
            .iter()
            .find_map(child)
            .expect("a child starts")
    }

    #[test]
    fn the_workflow_is_looked_for_before_the_child_leaves() {
        let mut scenario = parent(false);
        let definition_id = "child".to_owned();
        assert_eq!(
            scenario.calls[0].request,
            Request::FindWorkflow { definition_id }
        );
        assert!(scenario.effects.is_empty());
        scenario.answer(Answer::Found);
        let child = dispatched(&scenario);
        assert_eq!(
            json!(child.start.input),
            json!({ "Message": "hi", "ParentInstanceId": "i1" })
        );
        assert_eq!(scenario.instance.child_ids(), [child.instance]);
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
        assert_eq!(scenario.lines, [""]);
    }

    #[test]
    fn the_childs_output_is_the_result_however_it_ended() {
        for sub_status in ["Finished", "Faulted", "Cancelled"] {
            let mut scenario = parent(true);
            scenario.answer(Answer::Found);
            assert_eq!(scenario.sub_status(), SubStatus::Suspended);
            let output = json!({ "Response": "hello" });
            scenario.resume("d", json!({ "SubStatus": sub_status, "Output": output }));
            assert_eq!(scenario.lines, ["{\"Response\":\"hello\"}"]);
        }
    }

    #[test]
    fn a_workflow_that_is_not_there_fails_the_parent() {
        let mut scenario = parent(false);
        let message = "there is none".to_owned();
        scenario.answer(Answer::NotStarted { message });
        assert_eq!(scenario.incidents(), ["there is none"]);
        assert!(scenario.effects.is_empty());
    }

    #[test]
    fn a_workflow_that_goes_away_meanwhile_fails_a_parent_that_waits() {
        let mut scenario = parent(true);
        scenario.answer(Answer::Found);
        let told = not_started(&dispatched(&scenario), "it was retracted");
        scenario.resume("d", json!(told));
        assert_eq!(scenario.incidents(), ["it was retracted"]);
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
    }
}
