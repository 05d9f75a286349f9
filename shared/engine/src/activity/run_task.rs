//! `Elsa.RunTask`: asks an outside worker to do something, and waits until it says that it is done.

use serde_json::{Value, json};

use super::own::Word;
use super::{Activity, BuiltIn, Descriptor};
use crate::activity_type::Answer;
use crate::effect::Effect;
use crate::id::{BookmarkId, InstanceId};
use crate::instance::Bookmark;
use crate::step::{Cx, Fault, Then};

/// The name under which a task's result comes with the resume.
pub const RESULT: &str = "Result";

#[derive(Debug)]
struct RunTask;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.RunTask",
            "Primitives",
            "Requests a task from an external worker and waits for its result.",
        )
        .input("taskName", "String", "Name of the task.")
        .input("payload", "ObjectDictionary", "Payload for the worker.")
        .hint("json-editor")
        .output(
            "taskId",
            "String",
            "Id that the worker reports the result under.",
        )
        .output("result", "Object", "Result that the worker reported."),
        build: |_, _| Box::new(RunTask),
    }
}

/// The id of a task: it names the instance and the bookmark, so that nothing has to be looked up when it is done.
#[must_use]
pub fn task_id(instance: &InstanceId, bookmark: &BookmarkId) -> String {
    // The bookmark's length is fixed; the dot tells apart an instance whose id ends in one.
    let dot = if instance.as_str().ends_with('.') {
        "."
    } else {
        ""
    };
    format!("{instance}{dot}{bookmark}")
}

/// The length of a bookmark's id.
const BOOKMARK_BYTES: usize = 16;

/// The instance and the bookmark that a task's id names. Earlier builds put a dot between them.
#[must_use]
pub fn parse_task_id(task_id: &str) -> Option<(InstanceId, BookmarkId)> {
    let place = task_id.len().checked_sub(BOOKMARK_BYTES)?;
    let (instance, bookmark) = task_id.split_at_checked(place)?;
    let instance = instance.strip_suffix('.').unwrap_or(instance);
    let is_bookmark = bookmark.bytes().all(|b| b.is_ascii_hexdigit());
    (is_bookmark && !instance.is_empty()).then(|| (instance.into(), bookmark.into()))
}

impl Activity for RunTask {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let Some(name) = cx.text("taskName")? else {
            return Err(Fault::new("InvalidInput", "the task has no name; give one"));
        };
        let payload = cx.input("payload")?;
        let bookmark = cx.wait_for_resume(Value::Null, true);
        let task_id = task_id(cx.instance_id(), &bookmark);
        cx.set_bookmark_payload(&bookmark, json!({ "TaskId": task_id, "TaskName": name }));
        cx.set_output("taskId", Value::from(task_id.as_str()));
        cx.effect(Effect::RequestTask {
            task_id,
            name,
            payload,
        });
        Ok(Then::Wait)
    }

    fn resumed(&self, cx: &mut Cx<'_, '_>, _bookmark: &Bookmark) -> Result<Then, Fault> {
        if let Some(Word::Answered { answer }) = Word::of(cx.burst_inputs())
            && answer.get("error").is_some()
            && let Answer::Failed(failure) = Answer::read(&answer)
        {
            let mut fault = Fault::new(&failure.kind, failure.message);
            fault.is_final = !failure.is_retryable;
            return Err(fault);
        }
        let result = cx.burst_inputs().get(RESULT).cloned();
        cx.set_output("result", result.unwrap_or(Value::Null));
        Ok(Then::DONE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{BookmarkId, InstanceId, parse_task_id, task_id};
    use crate::activity::scenario::{Scenario, bound, literal, write};
    use crate::effect::Effect;

    fn task() -> Scenario {
        let task = json!({
            "id": "t", "type": "Elsa.RunTask", "taskName": literal("Review"), "payload": literal(json!({ "amount": 3 })),
            "taskId": bound("Id"), "result": bound("Answer"),
        });
        Scenario::sequence(
            json!({ "Id": null, "Answer": null }),
            json!([task, write("Answer")]),
        )
        .start()
    }

    #[test]
    fn the_worker_is_asked_under_an_id_that_leads_back() {
        let scenario = task();
        let bookmark = scenario.waiting_at("t");
        let id = format!("i1{}", bookmark.id);
        assert_eq!(
            bookmark.payload,
            json!({ "TaskId": id, "TaskName": "Review" })
        );
        assert_eq!(scenario.variable("Id"), json!(id));
        let asked = Effect::RequestTask {
            task_id: id.clone(),
            name: "Review".into(),
            payload: json!({ "amount": 3 }),
        };
        assert_eq!(scenario.effects, [asked]);
        assert_eq!(parse_task_id(&id), Some(("i1".into(), bookmark.id.clone())));
    }

    #[test]
    fn the_answer_goes_on() {
        let mut scenario = task();
        scenario.resume("t", json!({ "Result": "fine" }));
        assert_eq!(scenario.lines, ["fine"]);
    }

    #[test]
    fn a_worker_may_say_that_it_failed() {
        let mut scenario = task();
        let answer = json!({ "error": { "type": "Broken", "message": "no paper" } });
        let word = super::Word::Answered { answer };
        scenario.resume("t", Value::Object(word.input()));
        assert_eq!(scenario.incidents(), ["no paper"]);
    }

    #[test]
    fn an_id_of_somebody_else_leads_nowhere() {
        for id in [
            "",
            "x",
            "a.b",
            ".0123456789abcdef",
            "0123456789abcdef",
            "a.0123456789abcdeg",
        ] {
            assert_eq!(parse_task_id(id), None, "{id}");
        }
        let bookmark = BookmarkId::from("0123456789abcdef");
        for instance in ["a", "a.b", "a."] {
            let instance = InstanceId::from(instance);
            let id = task_id(&instance, &bookmark);
            assert_eq!(parse_task_id(&id), Some((instance, bookmark.clone())));
        }
        // The dot of earlier builds.
        let old = parse_task_id("a.b.0123456789abcdef");
        assert_eq!(old, Some(("a.b".into(), bookmark)));
    }
}
