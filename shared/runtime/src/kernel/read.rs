//! Reading an instance with its state.

use std::sync::Arc;

use dormouse_engine::graph::Graph;
use dormouse_engine::instance::Instance;
use dormouse_store::Tenant;
use dormouse_store::instance::head::InstanceHead;

use crate::error::RuntimeError;
use crate::graph::pin::Pin;
use crate::kernel::Kernel;

/// An instance with all that is kept of it.
#[derive(Debug, Clone)]
pub struct InstanceDetail {
    /// Its head: summary, commit, lease.
    pub head: InstanceHead,
    /// Its state: bookmarks, variables, outputs, incidents.
    pub instance: Instance,
    /// What it runs.
    pub graph: Arc<Graph>,
}

impl Kernel<'_> {
    /// An instance with its state.
    pub(crate) async fn read(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<InstanceDetail>, RuntimeError> {
        let found = self
            .store()
            .instances()
            .instance_with_state(tenant, instance_id)
            .await?;
        let Some((head, state)) = found else {
            return Ok(None);
        };
        let pin = Pin::decode(&head.pinned)?;
        let runnable = self
            .graphs()
            .runnable_of(tenant, &head.summary, pin.bindings)
            .await?;
        let instance =
            Instance::decode(&state, &runnable.graph).map_err(|source| RuntimeError::Instance {
                instance_id: instance_id.to_owned(),
                source,
            })?;
        Ok(Some(InstanceDetail {
            head,
            instance,
            graph: runnable.graph,
        }))
    }
}
