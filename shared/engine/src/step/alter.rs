//! Changing an instance from outside, as an operator says: variables, activities that are to be cancelled or run, the
//! version of its definition.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Cx, Run};
use crate::definition::convert::convert;
use crate::definition::declaration::Storage;
use crate::graph::{NodeIndex, ROOT};
use crate::id::ContextId;
use crate::instance::SubStatus;
use crate::journal::Event;

/// One change of an instance. Stored with alteration plans, so its names are stable for ever.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// Gives a variable that it keeps a value, in every execution that has it.
    SetVariable {
        /// The variable's id.
        id: String,
        /// The value; converted to the variable's type where that is possible.
        value: Value,
    },
    /// Gives a variable that it keeps a value as it is, in every execution that has it. One that there is not is left
    /// out.
    PutVariable {
        /// The variable's id.
        id: String,
        /// The value, whatever the variable's type.
        value: Value,
    },
    /// Cancels every execution of an activity.
    CancelActivity {
        /// The activity's id.
        activity_id: String,
    },
    /// Cancels one execution of an activity.
    CancelExecution {
        /// The execution's id as it shows outside.
        id: String,
    },
    /// Runs an activity: the execution of it that is open begins anew; where there is none, it runs in the open
    /// flowchart, or the sequence whose turn it is, that it is in.
    RunActivity {
        /// The activity's id.
        activity_id: String,
    },
    /// Begins one execution of an activity anew: what it waits for and what runs in it ends without a word.
    RunExecution {
        /// The execution's id as it shows outside.
        id: String,
    },
    /// Says that the instance came from another version of its definition to this one: [`crate::instance::Instance::migrate`]
    /// has done it before the step.
    Migrate {
        /// The version's number.
        version: u32,
    },
    /// Ends the instance.
    Cancel,
}

impl Run<'_> {
    /// Makes all changes in their order, or none. `false`: one of them cannot be made now.
    pub(crate) fn alter(&mut self, changes: &[Change]) -> bool {
        changes.iter().all(|change| self.alter_once(change))
    }

    fn alter_once(&mut self, change: &Change) -> bool {
        match change {
            Change::SetVariable { id, value } => self.alter_variable(id, value),
            Change::PutVariable { id, value } => self.put_variable(id, value),
            Change::CancelActivity { activity_id } => {
                let is_cancelled = self.cancel_activity(activity_id);
                if is_cancelled {
                    self.log_alteration(json!({ "cancelled": activity_id }));
                }
                is_cancelled
            }
            Change::CancelExecution { id } => self.cancel_execution(id),
            Change::RunActivity { activity_id } => self.alter_run(activity_id),
            Change::RunExecution { id } => match self.execution(id) {
                Some(id) => self.begin_anew(id),
                None => false,
            },
            Change::Migrate { version } => self.alter_version(*version),
            Change::Cancel => self.cancel_instance(),
        }
    }

    fn alter_variable(&mut self, id: &str, value: &Value) -> bool {
        let Some((owner, place)) = self.graph.variable(id, ROOT) else {
            return false;
        };
        // One in memory would be forgotten before anything could read it.
        let variable = self.graph.node(owner).variables.get(place);
        let Some(variable) = variable.filter(|v| v.storage == Storage::Instance) else {
            return false;
        };
        let holders = self.executions_of(owner);
        for holder in &holders {
            let value = match self.type_of_variable(id, owner) {
                Some(wanted) => convert(value.clone(), wanted).unwrap_or_else(|_| value.clone()),
                None => value.clone(),
            };
            self.set_variable_by_id(*holder, owner, id, value);
        }
        if !holders.is_empty() {
            // The value stays out of the journal: who may read the one may not be meant to read the other.
            self.log_alteration(json!({ "variable": variable.name }));
        }
        !holders.is_empty()
    }

    fn put_variable(&mut self, id: &str, value: &Value) -> bool {
        let Some((owner, _)) = self.graph.variable(id, ROOT) else {
            return true;
        };
        for holder in self.executions_of(owner) {
            self.set_variable_by_id(holder, owner, id, value.clone());
        }
        true
    }

    /// Notes an alteration. Elsa's journal has them all at the workflow itself.
    fn log_alteration(&mut self, data: Value) {
        let root = self.executions_of(ROOT).first().copied();
        self.log(Event::Altered, root.unwrap_or_default(), ROOT, data);
    }

    fn alter_version(&mut self, version: u32) -> bool {
        self.log_alteration(json!({ "version": version }));
        self.graph.version == version
    }

    fn alter_run(&mut self, activity_id: &str) -> bool {
        let Some(node) = self.graph.by_activity_id(activity_id) else {
            return false;
        };
        if let Some(open) = self.executions_of(node).first().copied() {
            return self.begin_anew(open);
        }
        if self.instance.queue.iter().any(|work| work.node == node) {
            return false;
        }
        let Some(parent) = self.graph.node(node).parent else {
            return false;
        };
        let Some(owner) = self.executions_of(parent).last().copied() else {
            return false;
        };
        self.instance.sub_status = SubStatus::Executing;
        self.log_alteration(json!({ "run": activity_id }));
        let activity = self.graph.node(parent).activity.as_ref();
        activity.run_child(&mut Cx::new(self, owner, parent), node)
    }

    /// Lets an execution that is there begin again. `false`: it is about to, or undoes what had completed in it.
    fn begin_anew(&mut self, id: ContextId) -> bool {
        let is_due = self.instance.queue.iter().any(|w| w.existing == Some(id));
        if is_due || self.is_undoing(id) {
            return false;
        }
        let Some(node) = self.instance.contexts.get(&id).map(|c| c.node) else {
            return false;
        };
        self.log_alteration(json!({ "run": self.graph.node(node).id }));
        self.cancel_children(id);
        self.burn_all(id);
        self.queue_again(id);
        true
    }

    fn cancel_execution(&mut self, text: &str) -> bool {
        let Some(id) = self.execution(text) else {
            return false;
        };
        self.instance.sub_status = SubStatus::Executing;
        self.cancel_and_tell(id);
        self.log_alteration(json!({ "cancelled": text }));
        true
    }

    /// The execution that shows outside under an id.
    fn execution(&self, text: &str) -> Option<ContextId> {
        let mut ids = self.instance.contexts.keys().copied();
        ids.find(|id| self.instance.context_text(*id) == text)
    }

    fn executions_of(&self, node: NodeIndex) -> Vec<ContextId> {
        let contexts = self.instance.contexts.iter();
        contexts
            .filter(|(_, context)| context.node == node)
            .map(|(id, _)| *id)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::scenario::{Scenario, event, fault, line};
    use crate::step::Stimulus;

    fn run(activity_id: &str) -> Change {
        Change::RunActivity {
            activity_id: activity_id.into(),
        }
    }

    fn alter(scenario: &mut Scenario, changes: &[Change]) -> bool {
        scenario.play(Stimulus::Alter {
            changes: changes.to_vec(),
        })
    }

    fn named(id: &str, mut activity: Value) -> Value {
        activity["id"] = id.into();
        activity
    }

    fn chart() -> Scenario {
        let way = |from: &str, to: &str| json!({ "source": { "activity": from }, "target": { "activity": to } });
        Scenario::of(json!({
            "id": "chart", "type": "Elsa.Flowchart",
            "activities": [named("a", line("a")), event("b"), named("c", line("c")), named("apart", line("apart"))],
            "connections": [way("a", "b"), way("b", "c")],
        }))
    }

    #[test]
    fn an_activity_of_a_flowchart_runs_again_and_what_follows_it() {
        let mut chart = chart().start();
        assert!(alter(&mut chart, &[run("c")]));
        assert_eq!(chart.lines, ["a", "c"]);
        assert!(alter(&mut chart, &[run("a")]));
        assert_eq!(chart.lines, ["a", "c", "a"]);
        // What no connection reaches cannot be run, nor what there is not.
        assert!(!alter(&mut chart, &[run("a"), run("apart")]));
        assert!(!alter(&mut chart, &[run("none")]));
        assert_eq!(chart.lines.len(), 3);
        assert_eq!(chart.sub_status(), SubStatus::Suspended);
    }

    #[test]
    fn an_open_activity_begins_anew() {
        let mut chart = chart().start();
        let before = chart.waiting_at("b").id.clone();
        assert!(alter(&mut chart, &[run("b")]));
        let after = chart.waiting_at("b").id.clone();
        assert_ne!(before, after);
        let id = chart.instance.context_text(chart.waiting_at("b").context);
        assert!(alter(&mut chart, &[Change::RunExecution { id }]));
        assert!(!chart.resume_bookmark(after, json!({})));
        assert!(!alter(
            &mut chart,
            &[Change::RunExecution { id: "none".into() }]
        ));
        assert!(chart.resume("b", json!({})));
        assert_eq!(chart.lines, ["a", "c"]);
        assert_eq!(chart.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn a_sequence_goes_on_behind_the_activity_that_is_run() {
        let activities = json!([named("a", line("a")), event("go"), named("b", line("b"))]);
        let mut sequence = Scenario::sequence(json!({}), activities).start();
        // It runs one at a time.
        assert!(!alter(&mut sequence, &[run("b")]));
        let cancel = Change::CancelActivity {
            activity_id: "go".into(),
        };
        assert!(alter(&mut sequence, &[cancel.clone(), run("a")]));
        assert_eq!(sequence.lines, ["a", "a"]);
        assert!(alter(&mut sequence, &[cancel, run("b")]));
        assert_eq!(sequence.lines, ["a", "a", "b"]);
        assert_eq!(sequence.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn a_failed_activity_runs_again_and_its_incident_is_gone() {
        let activities = json!([{ "id": "p", "type": "Elsa.Parallel", "activities": [event("go"), named("bad", fault("no"))] }]);
        let mut definition = json!({ "toolVersion": "3.7.0", "root": { "id": "s", "type": "Elsa.Sequence", "activities": activities } });
        definition["options"] = json!({ "incidentStrategyType": "Elsa.Workflows.IncidentStrategies.ContinueWithIncidentsStrategy, Elsa.Workflows.Core" });
        let mut failed = Scenario::workflow(definition).start();
        assert_eq!(failed.incidents().len(), 1);
        assert!(alter(&mut failed, &[run("bad")]));
        // It failed again, and that is the one incident.
        assert_eq!(failed.incidents().len(), 1);
        assert_eq!(failed.journaled("bad", Event::Faulted).len(), 2);
    }
}
