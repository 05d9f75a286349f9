//! What an execution remembers of the retries, timeouts and compensation that the definition puts around it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::graph::NodeIndex;
use crate::id::ContextId;
use crate::step::Fault;
use crate::time::Timestamp;

/// How far the retries, the timeouts and the compensation of an execution have got.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Guarded {
    /// How many attempts have failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u32,
    /// How many undeclared variables it began with: a new attempt has no others.
    #[serde(skip_serializing_if = "is_zero")]
    pub locals: u32,
    /// When its first attempt began, if there is a time for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_at: Option<Timestamp>,
    /// The time for all attempts is over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
    /// What it was given, for what undoes it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub inputs: Map<String, Value>,
    /// It undoes what had completed in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoing: Option<Box<Undoing>>,
}

/// An activity that has completed and can be undone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undoable {
    /// The activity.
    pub node: NodeIndex,
    /// The innermost execution around it that has not ended.
    pub scope: ContextId,
    /// What it was given, but for what is sensitive.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub inputs: Map<String, Value>,
    /// What it gave.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
}

/// A compensation under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undoing {
    /// What is still to be undone, the last one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Undoable>,
    /// What comes after it.
    pub then: AfterUndo,
    /// What it was in goes on without it: it was cancelled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_detached: bool,
}

/// What comes after a compensation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AfterUndo {
    /// The activity that asked for it ends.
    Complete,
    /// The execution is gone.
    Cancelled,
    /// The error that led to it goes on outwards.
    Raise(Box<Fault>),
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}
