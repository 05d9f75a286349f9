//! Changing an instance from outside, as an operator says: variables, activities that are to be cancelled.

use serde_json::{Value, json};

use super::Run;
use crate::definition::declaration::Storage;
use crate::graph::{NodeIndex, ROOT};
use crate::id::ContextId;
use crate::journal::Event;

/// One change of an instance.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Gives a variable that it keeps a value, in every execution that has it.
    SetVariable {
        /// The variable's id.
        id: String,
        /// The value; converted to the variable's type where that is possible.
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
            Change::CancelActivity { activity_id } => self.cancel_activity(activity_id),
            Change::CancelExecution { id } => self.cancel_execution(id),
            Change::Cancel => {
                self.cancel_instance();
                true
            }
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
            self.set_variable_by_id(*holder, owner, id, value.clone(), true);
            // The value stays out of the journal: who may read the one may not be meant to read the other.
            let data = json!({ "variable": variable.name });
            self.log(Event::Altered, *holder, owner, data);
        }
        !holders.is_empty()
    }

    fn cancel_execution(&mut self, text: &str) -> bool {
        let ids = self.instance.contexts.keys().copied();
        let found = ids
            .into_iter()
            .find(|id| self.instance.context_text(*id) == text);
        let Some(id) = found else {
            return false;
        };
        self.instance.sub_status = crate::instance::SubStatus::Executing;
        self.cancel_and_tell(id);
        true
    }

    fn executions_of(&self, node: NodeIndex) -> Vec<ContextId> {
        let contexts = self.instance.contexts.iter();
        contexts
            .filter(|(_, context)| context.node == node)
            .map(|(id, _)| *id)
            .collect()
    }
}
