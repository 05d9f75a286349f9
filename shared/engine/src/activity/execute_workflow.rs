//! `Elsa.ExecuteWorkflow`: runs another workflow in the same burst, and if asked waits for its end.

use serde_json::{Value, json};

use super::child_start::{End, child, definition_id, input, not_found, note_given};
use super::{Activity, ActivityKind, BuiltIn, Descriptor};
use crate::call::{Answer, Request};
use crate::instance::{Bookmark, Status, Wait};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct ExecuteWorkflow;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.ExecuteWorkflow",
            "Composition",
            "Runs another workflow until it suspends or ends.",
        )
        .kind(ActivityKind::Task)
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
            "Wait for the end of the workflow if it suspends.",
        )
        .default_value(false)
        .output(
            "result",
            "Object",
            "Id, status, sub-status and output; the output alone if it was waited for.",
        ),
        build: |_, _| Box::new(ExecuteWorkflow),
    }
}

/// Writes a result that a variable holds as Elsa stores it: in one casing, and with numbers for what has names.
pub(crate) fn store(value: &mut Value) {
    const STATUS: [&str; 2] = ["Running", "Finished"];
    const SUB_STATUS: [&str; 6] = [
        "Pending",
        "Executing",
        "Suspended",
        "Finished",
        "Cancelled",
        "Faulted",
    ];
    let Value::Object(members) = value else {
        return;
    };
    // A script that has read it leaves one casing of the two.
    let has_either =
        members.contains_key("workflowInstanceId") || members.contains_key("WorkflowInstanceId");
    if !members.contains_key("WorkflowDefinitionVersionId") || !has_either {
        return;
    }
    members.retain(|name, _| !name.starts_with(|c: char| c.is_ascii_lowercase()));
    for (name, names) in [("Status", &STATUS[..]), ("SubStatus", &SUB_STATUS[..])] {
        let place = members.get(name).and_then(Value::as_str);
        let place = place.and_then(|p| names.iter().position(|n| *n == p));
        if let Some(place) = place {
            members.insert(name.into(), place.into());
        }
    }
}

impl Activity for ExecuteWorkflow {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let definition_id = definition_id(cx)?;
        let correlation_id = cx.text("correlationId")?;
        let (input, is_given) = input(cx)?;
        // The child may end while the call is made or long after; this bookmark waits for either.
        let waiting = cx
            .flag("waitForCompletion")?
            .then(|| cx.wait_for_resume(Value::Null, true));
        let child = child(cx, &definition_id, correlation_id, input, waiting.as_ref());
        if is_given {
            cx.note_input("input", &Value::Object(child.start.input.clone()));
        }
        cx.call(Request::ExecuteWorkflow(child));
        Ok(Then::Wait)
    }

    fn answered(
        &self,
        cx: &mut Cx<'_, '_>,
        bookmark: &Bookmark,
        answer: Answer,
    ) -> Result<Then, Fault> {
        let Wait::Call(request) = &bookmark.wait else {
            return Ok(Then::Wait);
        };
        let Request::ExecuteWorkflow(child) = request.as_ref() else {
            return Ok(Then::Wait);
        };
        let (sub_status, output) = match answer {
            Answer::Executed { sub_status, output } => (sub_status, output),
            Answer::NotStarted { message } => return Err(not_found(message)),
            other @ (Answer::Http { .. }
            | Answer::FailedToConnect { .. }
            | Answer::TimedOut
            | Answer::Refused { .. }
            | Answer::Found) => {
                return Err(Fault::new(
                    "UnexpectedAnswer",
                    format!("the call was answered by {other:?}"),
                ));
            }
        };
        let is_waited_for = child
            .start
            .parent
            .as_ref()
            .is_some_and(|p| p.bookmark.is_some());
        let status = sub_status.status();
        if is_waited_for && status == Status::Running {
            return Ok(Then::Wait);
        }
        let result = json!({
            "workflowInstanceId": child.instance,
            "status": status,
            "subStatus": sub_status,
            "output": output,
        });
        let mut bound = json!({
            "WorkflowDefinitionVersionId": null,
            "WorkflowInstanceId": child.instance,
            "CorrelationId": null,
            "Status": status,
            "SubStatus": sub_status,
            "Output": output,
        });
        if let (Some(bound), Value::Object(camel)) = (bound.as_object_mut(), &result) {
            bound.extend(camel.clone());
        }
        cx.set_output_as("result", result, bound);
        Ok(Then::DONE)
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
    use serde_json::{Map, Value, json};

    use crate::activity::scenario::{Scenario, bound, literal, write};
    use crate::call::{Answer, Request};
    use crate::effect::{Child, Effect};
    use crate::instance::SubStatus;

    fn parent(waits: bool, custom: Value) -> Scenario {
        let execute = json!({
            "id": "x", "type": "Elsa.ExecuteWorkflow", "workflowDefinitionId": literal("child"),
            "input": literal(json!({ "Message": "hi" })), "waitForCompletion": literal(waits),
            "correlationId": literal("c-1"), "result": bound("Got"), "customProperties": custom,
        });
        Scenario::sequence(json!({ "Got": null }), json!([execute, write("Got")])).start()
    }

    fn called(scenario: &Scenario) -> Child {
        match &scenario.calls[0].request {
            Request::ExecuteWorkflow(child) => child.clone(),
            Request::Http(_) | Request::FindWorkflow { .. } => panic!("it runs a child"),
        }
    }

    fn ran(sub_status: SubStatus) -> Answer {
        let output = Map::from_iter([("Result".to_owned(), json!(42))]);
        Answer::Executed { sub_status, output }
    }

    #[test]
    fn the_child_knows_its_parent() {
        let child = called(&parent(false, Value::Null));
        assert_eq!(child.definition_id, "child");
        assert_eq!(child.start.correlation_id.as_deref(), Some("c-1"));
        let given = json!({ "Message": "hi", "ParentInstanceId": "i1" });
        assert_eq!(Value::Object(child.start.input), given);
        assert_eq!(
            Value::Object(child.start.properties),
            json!({ "ParentInstanceId": "i1" })
        );
        let link = child.start.parent.unwrap();
        assert_eq!((link.instance.as_str(), link.bookmark), ("i1", None));
        let waited_for = called(&parent(true, Value::Null));
        assert_eq!(
            waited_for.start.properties["WaitForCompletion"],
            json!(true)
        );
        assert!(waited_for.start.parent.unwrap().bookmark.is_some());
    }

    #[test]
    fn a_child_that_ends_at_once_is_the_result() {
        for waits in [false, true] {
            let mut scenario = parent(waits, Value::Null);
            let child = called(&scenario).instance;
            scenario.answer(ran(SubStatus::Finished));
            assert_eq!(scenario.sub_status(), SubStatus::Finished);
            // Elsa's members, and the same in the other case.
            let result = format!(
                r#"{{"WorkflowDefinitionVersionId":null,"WorkflowInstanceId":"{child}","CorrelationId":null,"Status":"Finished","SubStatus":"Finished","Output":{{"Result":42}},"workflowInstanceId":"{child}","status":"Finished","subStatus":"Finished","output":{{"Result":42}}}}"#
            );
            assert_eq!(scenario.lines, [result]);
        }
    }

    #[test]
    fn a_child_that_waits_is_waited_for_and_its_output_is_the_result() {
        let mut scenario = parent(true, Value::Null);
        scenario.answer(ran(SubStatus::Suspended));
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
        scenario.resume(
            "x",
            json!({ "SubStatus": "Finished", "Output": { "Result": 7 } }),
        );
        assert_eq!(scenario.lines, ["{\"Result\":7}"]);
    }

    #[test]
    fn a_child_that_waits_is_left_alone_if_nobody_waits_for_it() {
        let mut scenario = parent(false, Value::Null);
        scenario.answer(ran(SubStatus::Suspended));
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
        assert!(scenario.lines[0].contains("\"status\":\"Running\",\"subStatus\":\"Suspended\""));
    }

    #[test]
    fn the_childs_end_may_come_before_the_answer() {
        let mut scenario = parent(true, Value::Null);
        let waiting = called(&scenario).start.parent.unwrap().bookmark.unwrap();
        let call = scenario.calls[0].bookmark.clone();
        scenario.resume_bookmark(
            waiting,
            json!({ "SubStatus": "Finished", "Output": { "Result": 7 } }),
        );
        assert_eq!(scenario.lines, ["{\"Result\":7}"]);
        let late = crate::step::Stimulus::Answered {
            bookmark: call,
            answer: ran(SubStatus::Finished),
        };
        assert!(!scenario.play(late));
    }

    #[test]
    fn a_workflow_that_is_not_there_is_an_incident() {
        let mut scenario = parent(true, Value::Null);
        let message = "no published version".to_owned();
        scenario.answer(Answer::NotStarted { message });
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        assert!(scenario.instance.bookmarks.is_empty());
    }

    #[test]
    fn in_the_background_the_instance_does_not_hold_still() {
        let scenario = parent(false, json!({ "runAsynchronously": true }));
        assert!(scenario.calls.is_empty());
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
        assert!(matches!(
            scenario.effects[..],
            [Effect::CallInBackground { .. }]
        ));
    }
}
