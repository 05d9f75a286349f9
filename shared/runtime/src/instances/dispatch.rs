//! Starting an instance without waiting for it.

use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::instances::Instances;
use crate::kernel::begin::Located;
use crate::kernel::create::instance_id;
use crate::work::definition_handle::DefinitionHandle;
use crate::work::message::{StartFacts, Task};
use crate::work::start::StartRequest;

/// What became of a dispatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DispatchOutcome {
    /// It will be started, whatever happens.
    Accepted {
        /// The id it has.
        instance_id: String,
    },
    /// There is no such definition, or no such version of it.
    NotFound,
}

impl Instances<'_> {
    /// Promises to start an instance. When it returns, the promise outlives this process.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn dispatch(
        self,
        tenant: &Tenant,
        request: StartRequest,
    ) -> Result<DispatchOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        if !self.is_there(tenant, &request.definition).await? {
            return Ok(DispatchOutcome::NotFound);
        }
        let (instance, _) = instance_id(&self, tenant, &request);
        let instance_id = instance.to_string();
        let task = Task::Start {
            instance,
            definition: request.definition,
            start: StartFacts {
                input: request.input,
                correlation_id: request.correlation_id,
                name: request.name,
                trigger_activity_id: request.trigger_activity_id,
                properties: request.properties,
                parent: request.parent,
                ignores_activation: request.ignores_activation,
            },
        };
        let message = self.message(tenant, format!("start/{instance_id}"), task);
        self.outbox().accept(message).await?;
        Ok(DispatchOutcome::Accepted { instance_id })
    }

    async fn is_there(
        self,
        tenant: &Tenant,
        handle: &DefinitionHandle,
    ) -> Result<bool, RuntimeError> {
        Ok(match self.kernel().locate(tenant, handle).await? {
            Located::NotFound => false,
            Located::Version(..) => true,
            Located::InForce(id) => self
                .store()
                .definitions()
                .definition_head(tenant, &id)
                .await?
                .is_some_and(|head| head.published.is_some()),
        })
    }
}
