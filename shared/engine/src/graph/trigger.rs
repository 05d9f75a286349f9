//! What starts instances of a definition: triggers, worked out at publish time.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Graph, NodeIndex};
use crate::activity::Listening;
use crate::id::{ContextId, InstanceId};
use crate::instance::{Instance, Start};
pub use crate::schedule::Recurrence;
use crate::step::{Cx, Environment, Fault, Run};

/// One thing that starts instances of a definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    /// The activity.
    pub node: NodeIndex,
    /// Its id.
    pub activity_id: String,
    /// The stimulus's name.
    pub name: String,
    /// Under which a stimulus finds it.
    pub hash: String,
    /// What it keeps.
    pub payload: Value,
    /// When it fires by itself.
    pub recurrence: Option<Recurrence>,
    /// What happens to an occurrence while an earlier one's instance runs: `allow`, `skip`, `bufferOne`, `cancelPrevious`.
    pub overlap_policy: String,
}

/// The hash under which a stimulus finds triggers and bookmarks: SHA-256 of the name and the payload as JSON with
/// sorted names, upper-case hexadecimal, as in Elsa.
#[must_use]
pub fn stimulus_hash(name: &str, payload: &Value) -> String {
    let mut text = String::from(name);
    if !payload.is_null() {
        text.push('|');
        match payload {
            Value::String(s) => text.push_str(s),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                let _infallible = write!(text, "{payload}");
            }
        }
    }
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .fold(String::with_capacity(64), |mut out, byte| {
            let _infallible = write!(out, "{byte:02X}");
            out
        })
}

impl Graph {
    /// The triggers of the definition. Inputs are evaluated with variables' defaults and without runtime data.
    ///
    /// # Errors
    ///
    /// Per activity: its id and why it cannot listen.
    pub fn triggers(
        &self,
        environment: &Environment<'_>,
    ) -> Result<Vec<Trigger>, Vec<(String, Fault)>> {
        let mut triggers = Vec::new();
        let mut faults = Vec::new();
        for index in self.indexes() {
            let node = self.node(index);
            if !node.can_start_workflow || !node.activity.is_trigger() {
                continue;
            }
            match self.listen(index, environment) {
                Ok(listening) => triggers.extend(listening.into_iter().map(|l| {
                    Trigger {
                        node: index,
                        activity_id: node.id.clone(),
                        hash: stimulus_hash(&l.name, &l.hashed),
                        name: l.name,
                        payload: l.payload,
                        recurrence: l.recurrence,
                        overlap_policy: node
                            .custom
                            .get("overlapPolicy")
                            .and_then(Value::as_str)
                            .unwrap_or("allow")
                            .to_owned(),
                    }
                })),
                Err(fault) => faults.push((node.id.clone(), fault)),
            }
        }
        if faults.is_empty() {
            Ok(triggers)
        } else {
            Err(faults)
        }
    }

    fn listen(
        &self,
        index: NodeIndex,
        environment: &Environment<'_>,
    ) -> Result<Vec<Listening>, Fault> {
        let id = InstanceId::from("");
        let instance = Instance::new(self, id, Start::default(), environment.now, 0);
        let mut run = Run::new(self, instance, environment);
        let context = run.pretend(index);
        let activity = self.node(index).activity.as_ref();
        activity.listen(&mut Cx::new(&mut run, context, index))
    }
}

impl Run<'_> {
    /// Enters an activity and all around it without running anything, so that variables have their defaults.
    fn pretend(&mut self, index: NodeIndex) -> ContextId {
        let owner = self
            .graph
            .node(index)
            .parent
            .map(|parent| self.pretend(parent));
        self.enter(crate::instance::Work {
            node: index,
            owner,
            tag: 0,
            locals: Vec::new(),
            existing: None,
        })
    }
}
