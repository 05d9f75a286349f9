//! Instances as bytes: MessagePack with field names, behind a format number.
//!
//! Nodes are stored by index, and beside them the node id of every index that is used. A build that numbers the
//! activities of a definition differently finds them again by id.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Instance;
use crate::graph::{Graph, NodeIndex};

/// The format this build writes.
const FORMAT: u8 = 1;

/// Why bytes could not be read as an instance of a graph.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Written by a newer build.
    #[error(
        "the instance is stored in format {0}, which this version of Dormouse does not know; run a newer version"
    )]
    UnknownFormat(u8),
    /// Not an instance.
    #[error("the stored instance is damaged")]
    Damaged(#[source] Option<rmp_serde::decode::Error>),
    /// The definition has no such activity.
    #[error(
        "the definition has no activity `{node_id}`, where the instance is; it is not the version the instance was started with"
    )]
    NoSuchNode {
        /// The node id.
        node_id: String,
    },
}

#[derive(Serialize)]
struct StoredRef<'a> {
    nodes: BTreeMap<u32, &'a str>,
    instance: &'a Instance,
}

#[derive(Deserialize)]
struct Stored {
    nodes: BTreeMap<u32, String>,
    instance: Instance,
}

impl Instance {
    /// The instance as bytes.
    #[must_use]
    pub fn encode(&self, graph: &Graph) -> Vec<u8> {
        let mut nodes = BTreeMap::new();
        self.visit_nodes(|n| {
            nodes.insert(n.0, graph.node(n).node_id.as_str());
        });
        let mut out = vec![FORMAT];
        let stored = StoredRef {
            nodes,
            instance: self,
        };
        // Writing to a Vec cannot fail, and every type here has a MessagePack form.
        let _infallible =
            stored.serialize(&mut rmp_serde::Serializer::new(&mut out).with_struct_map());
        out
    }

    /// Reads what [`Self::encode`] wrote.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]; the instance is untouched in its table then.
    pub fn decode(bytes: &[u8], graph: &Graph) -> Result<Self, DecodeError> {
        let (format, body) = bytes.split_first().ok_or(DecodeError::Damaged(None))?;
        if *format != FORMAT {
            return Err(DecodeError::UnknownFormat(*format));
        }
        let stored: Stored =
            rmp_serde::from_slice(body).map_err(|e| DecodeError::Damaged(Some(e)))?;
        let mut instance = stored.instance;
        let mut moved = BTreeMap::new();
        for (index, node_id) in stored.nodes {
            let here = graph
                .nodes
                .get(index as usize)
                .is_some_and(|n| n.node_id == node_id);
            if !here {
                let now = graph
                    .by_node_id(&node_id)
                    .ok_or(DecodeError::NoSuchNode { node_id })?;
                moved.insert(NodeIndex(index), now);
            }
        }
        if !moved.is_empty() {
            instance.move_nodes(&moved);
        }
        Ok(instance)
    }

    fn visit_nodes(&self, mut visit: impl FnMut(NodeIndex)) {
        for context in self.contexts.values() {
            visit(context.node);
            for recorded in &context.outputs {
                visit(recorded.node);
            }
            for undoable in context.left_to_undo() {
                visit(undoable.node);
            }
        }
        for undoable in &self.undoable {
            visit(undoable.node);
        }
        for work in &self.queue {
            visit(work.node);
        }
    }

    fn move_nodes(&mut self, moved: &BTreeMap<NodeIndex, NodeIndex>) {
        let place = |n: &mut NodeIndex| {
            if let Some(now) = moved.get(n) {
                *n = *now;
            }
        };
        for context in self.contexts.values_mut() {
            place(&mut context.node);
            for recorded in &mut context.outputs {
                place(&mut recorded.node);
            }
            for undoable in context.left_to_undo_mut() {
                place(&mut undoable.node);
            }
        }
        for undoable in &mut self.undoable {
            place(&mut undoable.node);
        }
        for work in &mut self.queue {
            place(&mut work.node);
        }
    }
}
