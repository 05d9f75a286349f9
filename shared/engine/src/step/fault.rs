//! Failures of a workflow: incidents, never Rust errors.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Run;
use super::guard::is_guard;
use crate::definition::declaration::IncidentStrategy;
use crate::graph::{Graph, NodeIndex, ROOT};
use crate::id::ContextId;
use crate::instance::{Context, ExceptionState, Incident, Instance, SubStatus, Wait, Work};
use crate::journal::Event;

/// Why an activity could not do its work. What handles it may remember it over a wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// The kind of failure; a stable name.
    #[serde(rename = "type")]
    pub kind: String,
    /// What went wrong, in a sentence for the workflow's author.
    pub message: String,
    /// Facts to decide by.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// A script's stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// No attempt may fare better.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
    /// Where it arose, once it has been raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
}

/// The activity where an error arose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// Its id.
    pub activity_id: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity_name: Option<String>,
}

impl Fault {
    /// A failure of a kind.
    #[must_use]
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            metadata: Map::new(),
            stack: None,
            is_final: false,
            origin: None,
        }
    }

    /// With a fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// As scripts see it: `{type, message, activityId, activityName, data}`.
    #[must_use]
    pub fn error(&self) -> Value {
        let origin = self.origin.as_ref();
        json!({
            "type": self.kind,
            "message": self.message,
            "activityId": origin.map(|o| &o.activity_id),
            "activityName": origin.and_then(|o| o.activity_name.as_ref()),
            "data": self.metadata,
        })
    }

    /// As the journal and an incident show it.
    pub(super) fn exception(&self) -> ExceptionState {
        ExceptionState {
            kind: self.kind.clone(),
            message: self.message.clone(),
            stack_trace: self.stack.clone(),
            metadata: self.metadata.clone(),
        }
    }
}

/// Whether the instance will end as faulted once it rests: its incidents are not allowed. A burst cut into several
/// steps learns it from the instance.
pub(super) fn is_faulting(graph: &Graph, instance: &Instance) -> bool {
    graph.incident_strategy == IncidentStrategy::Fault && !instance.incidents.is_empty()
}

impl Run<'_> {
    /// Notes that an execution failed and nothing deals with it. What else is queued still runs, as in Elsa; the
    /// strategy decides how it ends.
    pub(super) fn fault_for_good(&mut self, id: ContextId, node: NodeIndex, fault: Fault) {
        self.cancel_children(id);
        self.burn_all(id);
        let mut at = Some(id);
        while let Some(context) = at.and_then(|a| self.instance.contexts.get_mut(&a)) {
            context.faults += 1;
            at = context.owner;
        }
        if let Some(context) = self.instance.contexts.get_mut(&id) {
            context.is_faulted = true;
        }
        self.tell_incident(id, node, fault);
        if self.graph.incident_strategy == IncidentStrategy::Fault {
            self.is_faulting = true;
        }
    }

    /// Notes that the activity at work failed although it has ended already.
    pub(super) fn fault_at_work(&mut self, id: ContextId, node: NodeIndex, fault: Fault) {
        if !self.instance.contexts.contains_key(&id) {
            let owner = self.turn_owner;
            if let Some(owner) = owner.and_then(|o| self.instance.contexts.get_mut(&o)) {
                owner.children_open += 1;
            }
            let mut context = Context::begun(node, owner, self.environment.now);
            context.is_faulted = true;
            self.instance.contexts.insert(id, context);
        }
        self.fault(id, node, fault);
    }

    fn tell_incident(&mut self, id: ContextId, node: NodeIndex, fault: Fault) {
        let activity = self.graph.node(node);
        let mut exception = fault.exception();
        // One that was raised further in, and came out of what dealt with it.
        if let Some(origin) = fault.origin.filter(|o| o.activity_id != activity.id) {
            let metadata = &mut exception.metadata;
            metadata.insert("activityId".into(), origin.activity_id.into());
            metadata.insert("activityName".into(), origin.activity_name.into());
        }
        self.log(Event::Faulted, id, node, json!({ "exception": exception }));
        self.instance.incidents.push(Incident {
            activity_id: activity.id.clone(),
            activity_node_id: activity.node_id.clone(),
            activity_instance_id: self.instance.context_text(id),
            activity_type: activity.type_name.clone(),
            message: fault.message,
            exception: Some(exception),
            timestamp: self.environment.now,
        });
    }

    /// Ends the instance with a failure from outside its activities, such as a state that cannot be stored. Nothing
    /// more of it runs, and no strategy can save it.
    pub(crate) fn fail(&mut self, fault: Fault) {
        let root = self.instance.contexts.iter();
        let root = root.filter(|(_, c)| c.owner.is_none()).map(|(id, _)| *id);
        let root = root.min().unwrap_or_default();
        self.tell_incident(root, ROOT, fault);
        self.end(SubStatus::Faulted);
        self.is_finishing = true;
    }

    /// Ends the instance because it went over a limit. No strategy can save it: it would not stop.
    pub(crate) fn stop_by_limit(&mut self, node: NodeIndex, limit: &str, value: u64) {
        let context = self
            .instance
            .contexts
            .iter()
            .find(|(_, c)| c.owner.is_none())
            .map_or(ContextId::default(), |(id, _)| *id);
        let message = format!(
            "the workflow was stopped: it reached the limit {limit} = {value}; is there a loop without end?"
        );
        self.fault_for_good(
            context,
            node,
            Fault::new("LimitReached", message)
                .with("limit", limit)
                .with("value", value),
        );
        self.is_faulting = true;
        self.instance.queue.clear();
    }

    /// Queues faulted activities again. `false`: nothing to retry.
    pub(crate) fn retry(&mut self, activity_ids: &[String]) -> bool {
        let graph = self.graph;
        let chosen: Vec<_> = self
            .instance
            .contexts
            .iter()
            .filter(|(_, c)| {
                c.is_faulted
                    && (activity_ids.is_empty() || activity_ids.contains(&graph.node(c.node).id))
            })
            .map(|(id, _)| *id)
            .collect();
        if chosen.is_empty() {
            return false;
        }
        let now = self.environment.now;
        let failed_ms = self
            .instance
            .finished_at
            .take()
            .map_or(0, |at| now.0 - at.0);
        let told = self.new_waits.len();
        for mut bookmark in std::mem::take(&mut self.instance.left) {
            if self.instance.contexts.contains_key(&bookmark.context) {
                // The time for which the instance stood failed counts for no timeout: else a retry would only time out.
                if let (true, Wait::Timer { due }) = (is_guard(&bookmark), &mut bookmark.wait) {
                    *due = due.plus_ms(failed_ms);
                }
                self.bookmark(bookmark);
            }
        }
        // The journal knows that these wait.
        self.new_waits.truncate(told);
        for id in chosen {
            self.queue_again(id);
        }
        true
    }

    /// Queues an execution again, as if it had not run; its failure is forgotten.
    pub(super) fn queue_again(&mut self, id: ContextId) {
        let Some(context) = self.instance.contexts.get_mut(&id) else {
            return;
        };
        context.memory = crate::instance::Memory::None;
        context.guarded = None;
        let was_faulted = std::mem::take(&mut context.is_faulted);
        self.instance.queue.push_back(Work {
            node: context.node,
            owner: context.owner,
            tag: context.tag,
            locals: Vec::new(),
            existing: Some(id),
        });
        self.instance.sub_status = SubStatus::Executing;
        let mut at = Some(id).filter(|_| was_faulted);
        while let Some(context) = at.and_then(|a| self.instance.contexts.get_mut(&a)) {
            context.faults = context.faults.saturating_sub(1);
            at = context.owner;
        }
        let text = self.instance.context_text(id);
        self.instance
            .incidents
            .retain(|i| i.activity_instance_id != text);
        self.is_faulting = is_faulting(self.graph, &self.instance);
    }
}
