//! What every node should hear of.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::PortError;

/// A definition was published, retracted, changed or deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionChanged {
    /// The tenant.
    pub tenant: String,
    /// The definition.
    pub definition_id: String,
}

/// Tells every node. A matter of speed only: a start checks the version anyway.
#[async_trait]
pub trait Broadcast: Send + Sync + 'static {
    /// Tells every node, which then calls [`crate::Graphs::invalidate`]. This node need not be told.
    async fn publish(&self, changed: &DefinitionChanged) -> Result<(), PortError>;
}
