//! What an instance did, line by line, without gaps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::graph::{Graph, NodeIndex};
use crate::id::ContextId;
use crate::instance::DecodeError;
use crate::time::Timestamp;

/// What happened. Elsa's event names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// An activity began.
    Started,
    /// It goes on after a wait.
    Resumed,
    /// It waits.
    Suspended,
    /// It ended.
    Completed,
    /// It was cancelled.
    Canceled,
    /// It failed.
    Faulted,
    /// It may not run now.
    PreconditionFailed,
    /// A call failed and will be made again.
    Retrying,
    /// The instance was cancelled.
    WorkflowCancelled,
    /// The instance was altered by an operator.
    Altered,
    /// A call failed for good, and the workflow deals with it.
    Error,
    /// It undoes what had completed in it.
    Compensating,
}

impl Event {
    /// Elsa's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Started => "Started",
            Self::Resumed => "Resumed",
            Self::Suspended => "Suspended",
            Self::Completed => "Completed",
            Self::Canceled => "Canceled",
            Self::Faulted => "Faulted",
            Self::PreconditionFailed => "Precondition Failed",
            Self::Retrying => "Retrying",
            Self::WorkflowCancelled => "Workflow cancelled",
            Self::Altered => "Altered",
            Self::Error => "Error",
            Self::Compensating => "Compensating",
        }
    }
}

/// One line as a step writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number; the instance's lines are numbered 0, 1, 2, …
    #[serde(rename = "q")]
    pub sequence: u64,
    /// When.
    #[serde(rename = "t")]
    pub at: Timestamp,
    /// What happened.
    #[serde(rename = "e")]
    pub event: Event,
    /// To which execution.
    #[serde(rename = "c")]
    pub context: ContextId,
    /// Of which activity.
    #[serde(rename = "n")]
    pub node: NodeIndex,
    /// Who scheduled it (on `Started`).
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<ContextId>,
    /// Inputs by property name (`Started`), `{"outcomes": […], "outputs": {…}}` (`Completed`), the exception (`Faulted`).
    #[serde(rename = "d", default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// One line as it is read: with the activity spelled out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The line's number.
    pub sequence: u64,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
    /// To which execution.
    pub context: ContextId,
    /// Who scheduled it.
    pub owner: Option<ContextId>,
    /// The activity's id.
    pub activity_id: String,
    /// Its place.
    pub activity_node_id: String,
    /// Its type.
    pub activity_type: String,
    /// The type's version.
    pub activity_type_version: u32,
    /// Its name.
    pub activity_name: Option<String>,
    /// More, see [`Entry::data`].
    pub data: Value,
}

#[derive(Serialize, Deserialize)]
struct Names(String, String, String, u32, Option<String>);

#[derive(Serialize, Deserialize)]
struct Block<E> {
    nodes: BTreeMap<u32, Names>,
    entries: E,
}

const FORMAT: u8 = 1;

/// The lines of one commit as bytes; they can be read without the definition.
#[must_use]
pub fn encode(entries: &[Entry], graph: &Graph) -> Vec<u8> {
    let mut nodes = BTreeMap::new();
    for entry in entries {
        nodes.entry(entry.node.0).or_insert_with(|| {
            let node = graph.node(entry.node);
            Names(
                node.id.clone(),
                node.node_id.clone(),
                node.type_name.clone(),
                node.version,
                node.name.clone(),
            )
        });
    }
    let mut out = vec![FORMAT];
    // Writing to a Vec cannot fail, and every type here has a MessagePack form.
    let _infallible = Block { nodes, entries }
        .serialize(&mut rmp_serde::Serializer::new(&mut out).with_struct_map());
    out
}

/// Reads what [`encode`] wrote.
///
/// # Errors
///
/// [`DecodeError::UnknownFormat`] or [`DecodeError::Damaged`].
pub fn decode(bytes: &[u8]) -> Result<Vec<Line>, DecodeError> {
    let (format, body) = bytes.split_first().ok_or(DecodeError::Damaged(None))?;
    if *format != FORMAT {
        return Err(DecodeError::UnknownFormat(*format));
    }
    let block: Block<Vec<Entry>> =
        rmp_serde::from_slice(body).map_err(|e| DecodeError::Damaged(Some(e)))?;
    block
        .entries
        .into_iter()
        .map(|entry| {
            let Names(id, node_id, kind, version, name) = block
                .nodes
                .get(&entry.node.0)
                .ok_or(DecodeError::Damaged(None))?;
            Ok(Line {
                sequence: entry.sequence,
                at: entry.at,
                event: entry.event,
                context: entry.context,
                owner: entry.owner,
                activity_id: id.clone(),
                activity_node_id: node_id.clone(),
                activity_type: kind.clone(),
                activity_type_version: *version,
                activity_name: name.clone(),
                data: entry.data,
            })
        })
        .collect()
}
