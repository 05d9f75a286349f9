//! One execution of one activity.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::guarded::{Guarded, Undoable};
use crate::activity::flowchart::FlowMemory;
use crate::call::HttpRequest;
use crate::graph::NodeIndex;
use crate::id::ContextId;
use crate::time::Timestamp;

/// A variable that is not declared: a loop's `CurrentValue`, an input of a workflow used as an activity, or one made by a script.
pub type Local = (String, Value);

/// A recorded output: which activity, which output, what value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The activity.
    pub node: NodeIndex,
    /// The output's name in JSON.
    pub output: String,
    /// The value.
    pub value: Value,
}

/// What an activity remembers between its steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub enum Memory {
    /// Nothing.
    #[default]
    None,
    /// A position or a count.
    Count(i64),
    /// A flowchart's visits or tokens.
    Flow(Box<FlowMemory>),
    /// A call that failed and is made again.
    Retry(Box<Retry>),
    /// Anything else, as JSON.
    Json(Value),
}

/// A call that failed and is made again after a pause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// How often it has been made again.
    pub attempts: u32,
    /// The same request each time, under the same key.
    pub request: HttpRequest,
}

/// One execution of one activity, begun and not yet ended, or faulted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// The activity.
    pub node: NodeIndex,
    /// The execution that scheduled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<ContextId>,
    /// A mark of the owner's.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tag: i64,
    /// Values of declared variables; not yet set ones have their default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<u32, Value>,
    /// Variables that are not declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locals: Vec<Local>,
    /// Its own outputs, and those of activities directly inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Recorded>,
    /// What the activity remembers.
    #[serde(default)]
    pub memory: Memory,
    /// Children scheduled and not ended; a faulted child never ends.
    #[serde(default)]
    pub children_open: u32,
    /// A `Break` was seen below.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_broken: bool,
    /// It failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_faulted: bool,
    /// Failures in it and below.
    #[serde(default, skip_serializing_if = "is_zero_u32")]
    pub faults: u32,
    /// It has ended, and is kept for what was due in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_ended: bool,
    /// How far its retries, its timeouts and its compensation have got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<Box<Guarded>>,
    /// When it began.
    pub started_at: Timestamp,
}

impl Context {
    /// One that begins.
    #[must_use]
    pub fn begun(node: NodeIndex, owner: Option<ContextId>, now: Timestamp) -> Self {
        Self {
            node,
            owner,
            tag: 0,
            variables: BTreeMap::new(),
            locals: Vec::new(),
            outputs: Vec::new(),
            memory: Memory::None,
            children_open: 0,
            is_broken: false,
            is_faulted: false,
            faults: 0,
            has_ended: false,
            guarded: None,
            started_at: now,
        }
    }

    /// What it has still to undo.
    pub(crate) fn left_to_undo(&self) -> &[Undoable] {
        let undoing = self.guarded.as_ref().and_then(|g| g.undoing.as_ref());
        undoing.map_or(&[], |u| u.left.as_slice())
    }

    /// The same, to be changed.
    pub(crate) fn left_to_undo_mut(&mut self) -> &mut [Undoable] {
        let undoing = self.guarded.as_mut().and_then(|g| g.undoing.as_mut());
        undoing.map_or(&mut [], |u| u.left.as_mut_slice())
    }

    /// Whether it is told of the ends of its children no more, for one that has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.has_ended && !matches!(&self.memory, Memory::Flow(memory) if memory.has_tokens)
    }

    /// Keeps the newest value of an output of this activity or of one directly inside.
    pub(crate) fn record(&mut self, node: NodeIndex, output: &str, value: &Value) {
        let is_it = |r: &&mut Recorded| r.node == node && r.output.eq_ignore_ascii_case(output);
        match self.outputs.iter_mut().find(is_it) {
            Some(recorded) => recorded.value = value.clone(),
            None => self.outputs.push(Recorded {
                node,
                output: output.to_owned(),
                value: value.clone(),
            }),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &i64) -> bool {
    *n == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero_u32(n: &u32) -> bool {
    *n == 0
}

/// An activity that is due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The activity.
    pub node: NodeIndex,
    /// Who scheduled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<ContextId>,
    /// A mark of the owner's.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tag: i64,
    /// Variables it begins with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locals: Vec<Local>,
    /// An execution that exists already and is run again (a retry, a background job).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing: Option<ContextId>,
}
