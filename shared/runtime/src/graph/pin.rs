//! What an instance is pinned to besides its version: it lies in the head, so that a resume can load the graph
//! without another read.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::RuntimeError;
use crate::graph::bindings::Bindings;

/// What an instance is pinned to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Pin {
    /// The versions of the workflows it uses as activities.
    #[serde(rename = "b", skip_serializing_if = "Bindings::is_empty")]
    pub(crate) bindings: Bindings,
    /// The trigger whose next occurrence waits for this instance's end.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub(crate) buffers: Option<String>,
}

impl Pin {
    /// As bytes; most instances need none.
    pub(crate) fn encode(&self) -> Result<Bytes, RuntimeError> {
        if *self == Self::default() {
            return Ok(Bytes::new());
        }
        serde_json::to_vec(self)
            .map(Bytes::from)
            .map_err(RuntimeError::format("pin"))
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, RuntimeError> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_slice(bytes).map_err(RuntimeError::format("pin"))
    }
}
