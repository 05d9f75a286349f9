//! `Elsa.BulkDispatchWorkflows`: one child for every item, and if asked waits for all of them.
//!
//! One bookmark waits for every child and is not burnt. A child's end told twice counts once: each child has a number
//! and a mark of its own.

use serde_json::{Map, Value, json};

use super::child_start::{End, child, definition_id, hold, input, release};
use super::dispatch_workflow::expect_found;
use super::parallel_for_each::items_of;
use super::{Activity, ActivityKind, BuiltIn, Descriptor};
use crate::call::{Answer, Request};
use crate::effect::Child;
use crate::graph::NodeIndex;
use crate::instance::{Bookmark, Memory};
use crate::step::{Cx, Ended, Fault, Outcomes, Then};

/// The most children of one activity; their starts are all in one commit.
pub const CHILDREN_MAX: usize = 10_000;

#[derive(Debug)]
struct BulkDispatchWorkflows {
    child_completed: Option<NodeIndex>,
    child_faulted: Option<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.BulkDispatchWorkflows",
            "Composition",
            "Starts a child workflow for every item.",
        )
        .kind(ActivityKind::Task)
        .input(
            "workflowDefinitionId",
            "String",
            "Id of the workflow definition. Its published version runs.",
        )
        .hint("workflow-definition-picker")
        .input("items", "Object", "The items.")
        .input(
            "defaultItemInputKey",
            "String",
            "Name of the child's input that receives an item that is no object.",
        )
        .default_value("Item")
        .input(
            "correlationIdFunction",
            "String",
            "Correlation id of a child. The item is in `args`.",
        )
        .lazy()
        .input("input", "ObjectDictionary", "Input of every child.")
        .input(
            "waitForCompletion",
            "Boolean",
            "Wait for the end of all children.",
        )
        .default_value(true)
        .input(
            "startNewTrace",
            "Boolean",
            "Start a trace of its own for each child.",
        )
        .default_value(false)
        .input(
            "channelName",
            "String",
            "Accepted and ignored: there is one channel.",
        )
        .port("childCompleted")
        .port("childFaulted")
        .outcomes(&["Completed", "Canceled", "Done"]),
        build: |builder, fields| {
            Box::new(BulkDispatchWorkflows {
                child_completed: builder.child(fields, "childCompleted"),
                child_faulted: builder.child(fields, "childFaulted"),
            })
        },
    }
}

/// All children have ended, and what their ends set off as well.
fn all_ended() -> Then {
    Then::Complete(Outcomes::Named(vec!["Completed".into(), "Done".into()]))
}

/// An item as a child is given it: a map's own entries, anything else under one name.
fn entries(item: &Value, key: &str) -> Map<String, Value> {
    match item {
        Value::Object(map) => map.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::from_iter([(key.to_owned(), item.clone())])
        }
    }
}

fn children(
    cx: &mut Cx<'_, '_>,
    definition_id: &str,
    items: Vec<Value>,
) -> Result<Vec<Child>, Fault> {
    if items.len() > CHILDREN_MAX {
        let message = format!(
            "{} items are more than the {CHILDREN_MAX} that one BulkDispatchWorkflows takes; split them",
            items.len()
        );
        return Err(Fault::new("LimitReached", message)
            .with("limit", "CHILDREN_MAX")
            .with("value", CHILDREN_MAX));
    }
    let waiting = cx
        .flag("waitForCompletion")?
        .then(|| cx.wait_for_resume(Value::Null, false));
    let key = cx.text("defaultItemInputKey")?.unwrap_or_default();
    let (base, _) = input(cx)?;
    let mut children = Vec::with_capacity(items.len());
    for item in items {
        let own = entries(&item, &key);
        let mut arguments = vec![(key.clone(), item)];
        arguments.extend(own.clone());
        cx.set_arguments(arguments);
        let correlation_id = cx.text("correlationIdFunction")?;
        let mut input = base.clone();
        input.extend(own);
        children.push(child(
            cx,
            definition_id,
            correlation_id,
            input,
            waiting.as_ref(),
        ));
    }
    Ok(children)
}

/// Which children have ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tally {
    /// The number of the first; the others follow.
    first: u64,
    /// One mark per child: `1` has ended.
    marks: String,
}

impl Tally {
    fn recall(cx: &mut Cx<'_, '_>) -> Option<Self> {
        let Memory::Json(kept) = cx.memory() else {
            return None;
        };
        Some(Self {
            first: kept.get("first")?.as_u64()?,
            marks: kept.get("marks")?.as_str()?.to_owned(),
        })
    }

    fn keep(&self, cx: &mut Cx<'_, '_>) {
        *cx.memory() = Memory::Json(json!({ "first": self.first, "marks": self.marks }));
    }

    /// Marks a child as ended. `false`: it was, or is none of these.
    fn mark(&mut self, serial: u64) -> bool {
        let place = serial
            .checked_sub(self.first)
            .and_then(|p| usize::try_from(p).ok());
        let Some(place) = place.filter(|p| self.marks.get(*p..=*p) == Some("0")) else {
            return false;
        };
        self.marks.replace_range(place..=place, "1");
        true
    }

    fn is_full(&self) -> bool {
        !self.marks.contains('0')
    }
}

impl Activity for BulkDispatchWorkflows {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        let definition_id = definition_id(cx)?;
        let items = items_of(cx.input("items")?)?;
        if items.is_empty() {
            return Ok(Then::DONE);
        }
        let children = children(cx, &definition_id, items)?;
        hold(cx, &children);
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
        let Some(link) = children.first().and_then(|c| c.start.parent.clone()) else {
            return Ok(all_ended());
        };
        if link.bookmark.is_none() {
            return Ok(Then::DONE);
        }
        let tally = Tally {
            first: link.serial,
            marks: "0".repeat(children.len()),
        };
        tally.keep(cx);
        Ok(Then::Wait)
    }

    fn resumed(&self, cx: &mut Cx<'_, '_>, _bookmark: &Bookmark) -> Result<Then, Fault> {
        let end = End::read(cx)?;
        let Some(mut tally) = Tally::recall(cx) else {
            return Ok(Then::Wait);
        };
        if cx.child_id(end.serial).as_str() != end.instance || !tally.mark(end.serial) {
            return Ok(Then::Wait);
        }
        tally.keep(cx);
        let port = match end.sub_status.as_str() {
            "Finished" => self.child_completed,
            "Faulted" => self.child_faulted,
            _ => None,
        };
        if let Some(port) = port {
            cx.schedule_with(
                port,
                0,
                vec![("ChildInstanceId".into(), end.instance.into())],
            );
        }
        Ok(if tally.is_full() && cx.children_open() == 0 {
            all_ended()
        } else {
            Then::Wait
        })
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        let is_full = Tally::recall(cx).is_none_or(|tally| tally.is_full());
        Ok(if is_full && cx.children_open() == 0 {
            all_ended()
        } else {
            Then::Wait
        })
    }

    fn makes_calls(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::CHILDREN_MAX;
    use crate::activity::scenario::{Scenario, line, literal, script};
    use crate::call::Answer;
    use crate::effect::{Child, Effect};
    use crate::instance::SubStatus;

    fn bulk(items: Value, waits: bool) -> Scenario {
        let said = |word: &str| json!({ "type": "Elsa.WriteLine", "text": script(&format!("'{word} ' + getVariable('ChildInstanceId')")) });
        let bulk = json!({
            "id": "b", "type": "Elsa.BulkDispatchWorkflows", "workflowDefinitionId": literal("child"),
            "items": literal(items), "waitForCompletion": literal(waits), "input": literal(json!({ "Base": 1 })),
            "correlationIdFunction": script("'correlation-' + (args.no ?? args.Item)"),
            "childCompleted": said("completed"), "childFaulted": said("faulted"),
        });
        let mut scenario = Scenario::sequence(json!({}), json!([bulk, line("after")])).start();
        if !scenario.calls.is_empty() {
            scenario.answer(Answer::Found);
        }
        scenario
    }

    fn started(scenario: &Scenario) -> Vec<Child> {
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
        scenario.effects.iter().filter_map(child).collect()
    }

    fn end(scenario: &mut Scenario, child: &Child, sub_status: &str) -> bool {
        let link = child.start.parent.clone().unwrap();
        let input = json!({
            "ChildInstanceId": child.instance, "ChildSerial": link.serial, "SubStatus": sub_status, "Output": {},
        });
        scenario.resume_bookmark(link.bookmark.unwrap(), input)
    }

    #[test]
    fn every_item_has_a_child_with_its_own_input_and_correlation() {
        let scenario = bulk(json!(["Apple", { "no": 2 }]), false);
        let children = started(&scenario);
        let inputs: Vec<_> = children.iter().map(|c| json!(c.start.input)).collect();
        let expected = [
            json!({ "Base": 1, "Item": "Apple", "ParentInstanceId": "i1" }),
            json!({ "Base": 1, "no": 2, "ParentInstanceId": "i1" }),
        ];
        assert_eq!(inputs, expected);
        let correlations: Vec<_> = children
            .iter()
            .filter_map(|c| c.start.correlation_id.as_deref())
            .collect();
        assert_eq!(correlations, ["correlation-Apple", "correlation-2"]);
        assert_eq!(scenario.outcomes("b"), json!(["Done"]));
        assert!(
            !children[0]
                .start
                .properties
                .contains_key("WaitForCompletion")
        );
        assert_eq!(scenario.lines, ["after"]);
    }

    #[test]
    fn all_ends_are_waited_for_and_each_sets_off_its_port() {
        let mut scenario = bulk(json!(["a", "b", "c"]), true);
        let children = started(&scenario);
        end(&mut scenario, &children[1], "Faulted");
        end(&mut scenario, &children[0], "Finished");
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
        end(&mut scenario, &children[2], "Cancelled");
        let expected = [
            format!("faulted {}", children[1].instance),
            format!("completed {}", children[0].instance),
            "after".to_owned(),
        ];
        assert_eq!(scenario.lines, expected);
        assert_eq!(scenario.outcomes("b"), json!(["Completed", "Done"]));
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn an_end_that_is_told_twice_counts_once() {
        let mut scenario = bulk(json!(["a", "b"]), true);
        let children = started(&scenario);
        for _ in 0..3 {
            end(&mut scenario, &children[0], "Finished");
        }
        let mut stranger = children[1].clone();
        stranger.instance = "somebody".into();
        end(&mut scenario, &stranger, "Finished");
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
        assert_eq!(scenario.lines.len(), 1);
    }

    #[test]
    fn nothing_to_start_is_done_without_a_question() {
        let scenario = bulk(json!([]), true);
        assert_eq!(scenario.outcomes("b"), json!(["Done"]));
        assert_eq!(scenario.lines, ["after"]);
    }

    #[test]
    fn too_many_items_are_an_incident() {
        let scenario = bulk(json!(vec![1; CHILDREN_MAX + 1]), true);
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        assert!(scenario.incidents()[0].contains("10000"));
    }
}
