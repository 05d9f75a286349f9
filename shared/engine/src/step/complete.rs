//! The end of an activity, and what it means for those around it.

use serde_json::{Map, Value, json};

use super::{Cx, Ended, Outcomes, Run};
use crate::definition::name::property_name;
use crate::id::ContextId;
use crate::instance::{Context, SubStatus};
use crate::journal::Event;

/// The one output that every workflow has.
const RESULT: &str = "Result";

impl Run<'_> {
    /// Ends an execution: children still active are cancelled, its bookmarks go, its owner is told.
    pub(crate) fn complete(&mut self, id: ContextId, outcomes: Outcomes) {
        let Some(context) = self.close(id, &outcomes) else {
            return;
        };
        if self.is_finishing {
            return;
        }
        let ended = Ended {
            node: context.node,
            context: id,
            outcomes,
            tag: context.tag,
            is_cancelled: false,
        };
        self.tell_owner(context.owner, &ended);
    }

    /// Ends an execution without telling its owner, for one whose surroundings end with it.
    pub(crate) fn close(&mut self, id: ContextId, outcomes: &Outcomes) -> Option<Context> {
        let has_open = match self.instance.contexts.get_mut(&id) {
            Some(context) => std::mem::take(&mut context.children_open) > 0,
            None => false,
        };
        if has_open {
            self.cancel_begun(id);
        }
        if self.root() == Some(id) && self.end_after_undo(SubStatus::Finished) {
            return None;
        }
        self.burn_all(id);
        let context = self.instance.contexts.remove(&id)?;
        self.pass_undoable(id, &context, true);
        self.instance.keep_variables(&context);
        if has_open || !self.instance.ended.is_empty() {
            self.instance.keep_ended(id, &context);
        }
        if self.turn.is_some_and(|(turn, _)| turn == id) {
            self.turn_owner = context.owner;
        }
        let mut outputs = self.outputs_of(&context);
        // The workflow has an output of this name itself, as in Elsa.
        if context.owner.is_none()
            && let Some(result) = self.instance.output.get(RESULT)
        {
            outputs.insert(RESULT.into(), result.clone());
        }
        let data = self.with_late_inputs(id, completed_data(outcomes, outputs));
        self.log(Event::Completed, id, context.node, data);
        Some(context)
    }

    /// Tells the owner of an execution that it has ended. Without an owner it was the workflow itself.
    pub(crate) fn tell_owner(&mut self, owner: Option<ContextId>, ended: &Ended) {
        // What is due by then still runs, as in Elsa; the instance ends when it rests.
        let Some(owner) = owner else {
            return;
        };
        let Some(context) = self.instance.context_mut(owner) else {
            return;
        };
        // One that has ended follows its connections only if it ended while it was passing tokens.
        if context.is_over() {
            return;
        }
        context.children_open = context.children_open.saturating_sub(1);
        let node = context.node;
        if self.is_undone(owner) {
            return;
        }
        let activity = self.graph.node(node).activity.as_ref();
        let mut cx = Cx::new(self, owner, node);
        let then = if ended.is_cancelled {
            activity.child_cancelled(&mut cx, ended)
        } else {
            activity.child_ended(&mut cx, ended)
        };
        match (then, self.turn) {
            // As in Elsa, what goes wrong in what an end leads to is a failure of the activity at work.
            (Err(fault), Some((turn, turn_node))) => self.fault_at_work(turn, turn_node, fault),
            (then, _) => self.settle(owner, node, then),
        }
    }

    /// What the journal says besides of an execution that did not end by itself: its outputs so far.
    pub(super) fn outputs_data(&self, context: &Context) -> Value {
        let outputs = self.outputs_of(context);
        if outputs.is_empty() {
            Value::Null
        } else {
            json!({ "outputs": outputs })
        }
    }

    /// Adds the inputs that an execution asked for in a later step than the one that wrote its first line.
    fn with_late_inputs(&mut self, id: ContextId, data: Value) -> Value {
        let late = self
            .late_inputs
            .extract_if(.., |(context, _, _)| *context == id);
        let late: Map<String, Value> = late.map(|(_, name, value)| (name, value)).collect();
        if late.is_empty() {
            return data;
        }
        let mut data = match data {
            Value::Object(data) => data,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        data.insert("inputs".into(), Value::Object(late));
        Value::Object(data)
    }

    /// A commit may be before each turn, so nothing of the one before counts.
    pub(super) fn begin_turn(&mut self) {
        self.turn_began = self.journal.len();
        self.late_inputs.clear();
        self.turn = None;
        self.composite_outcomes = None;
    }

    /// Notes the value of an input that is evaluated by the activity itself: with its first line if that is being written,
    /// else with its last.
    pub(super) fn note_input(&mut self, id: ContextId, name: &str, value: &Value) {
        let lines = self.journal.get_mut(self.turn_began..).unwrap_or_default();
        let started = lines
            .iter_mut()
            .find(|l| l.context == id && (l.event == Event::Started || l.owner.is_some()));
        let Some(line) = started else {
            self.late_inputs
                .push((id, property_name(name), value.clone()));
            return;
        };
        match &mut line.data {
            Value::Object(state) => {
                state.insert(property_name(name), value.clone());
            }
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)) => *other = json!({ property_name(name): value }),
        }
    }

    /// The outputs of an execution that the journal shows, by property name.
    fn outputs_of(&self, context: &Context) -> Map<String, Value> {
        let declared = &self.graph.node(context.node).outputs;
        let is_logged = |name: &str| declared.iter().any(|o| o.name == name && o.is_logged);
        let own = context.outputs.iter().filter(|r| r.node == context.node);
        own.filter(|r| is_logged(&r.output))
            .map(|r| (property_name(&r.output), r.value.clone()))
            .collect()
    }
}

/// What the journal says of an end. `Done` and no outputs is nothing, so that the usual line is short.
fn completed_data(outcomes: &Outcomes, outputs: Map<String, Value>) -> Value {
    match (outcomes, outputs.is_empty()) {
        (Outcomes::Done, true) => Value::Null,
        (Outcomes::Named(_), true) => json!({ "outcomes": outcomes.names() }),
        (Outcomes::Done | Outcomes::Named(_), false) => {
            json!({ "outcomes": outcomes.names(), "outputs": outputs })
        }
    }
}
