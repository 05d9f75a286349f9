//! Starting an instance without waiting for it.

use dormouse_store::Tenant;

use crate::delivery::parcel::Parcel;
use crate::instances::Instances;
use crate::instances::start::{Located, StartRequest};
use crate::kernel::create::instance_id;
use crate::runtime::config::Delivery;
use crate::runtime::error::RuntimeError;
use crate::work::definition_handle::DefinitionHandle;
use crate::work::message::{Message, StartFacts, Task};

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
        self.accept(message).await?;
        Ok(DispatchOutcome::Accepted { instance_id })
    }

    async fn is_there(
        self,
        tenant: &Tenant,
        handle: &DefinitionHandle,
    ) -> Result<bool, RuntimeError> {
        Ok(match self.locate(tenant, handle).await? {
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

    /// Promises to do what a message says: it lies in a queue or in the outbox when this returns.
    pub(crate) async fn accept(self, message: Message) -> Result<(), RuntimeError> {
        let parcel = self.accept_parcel(message).await?;
        self.post(parcel).await;
        Ok(())
    }

    /// The same, but the caller carries it out. An empty parcel: a queue has it.
    pub(crate) async fn accept_parcel(self, message: Message) -> Result<Parcel, RuntimeError> {
        if let Some(queue) = self
            .ports()
            .queue
            .as_ref()
            .filter(|_| message.task.is_work())
        {
            queue.send(&message, 0).await.map_err(RuntimeError::Queue)?;
            return Ok(Parcel::default());
        }
        self.accept_in_outbox(message).await
    }

    /// The same in the outbox, where a queue would deliver what the caller is about to do anyway.
    pub(crate) async fn accept_in_outbox(self, message: Message) -> Result<Parcel, RuntimeError> {
        let effects = [message.effect()?];
        let (tenant, now) = (message.tenant.clone(), self.now());
        let mut attempt = 1;
        let keys = loop {
            // Put twice it is delivered twice, which changes nothing.
            match self
                .store()
                .outbox()
                .put(&tenant, &message.id, now.0, &effects)
                .await
            {
                Err(error) if error.is_busy() || error.is_unknown() => {
                    if !self.back_off(attempt).await {
                        return Err(error.into());
                    }
                    attempt += 1;
                }
                keys => break keys?,
            }
        };
        Ok(Parcel {
            keys,
            messages: vec![message],
            forget: Vec::new(),
        })
    }

    /// Carries a parcel out beside the caller, or before it returns where nothing runs after that.
    pub(crate) async fn post(self, parcel: Parcel) {
        if parcel.is_empty() {
            return;
        }
        let work = self.delivery().carry_out(parcel);
        match self.config().delivery {
            Delivery::Background => self.ports().background.spawn(work),
            Delivery::Inline => work.await,
        }
    }
}
