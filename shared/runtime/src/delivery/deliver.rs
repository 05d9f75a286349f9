//! Doing what a message says.

use dormouse_engine::effect::Child;
use dormouse_engine::id::{BookmarkId, InstanceId};
use dormouse_engine::instance::Wait;
use dormouse_engine::step::{Stimulus, not_started};
use dormouse_store::Tenant;
use serde_json::{Map, Value};

use crate::delivery::Deliveries;
use crate::error::RuntimeError;
use crate::kernel::burst::no_such_workflow;
use crate::port::{LifecycleEvent, Metric, TaskRequest};
use crate::timers::fire::TimerOutcome;
use crate::work::delivered::Delivered;
use crate::work::message::{Message, Task};
use crate::work::resume::ResumeOutcome;
use crate::work::start::{StartOutcome, StartRequest};
use crate::work::target::Target;
use crate::work::timer::Timer;
use crate::work::wake::{WakeRequest, outcome};

impl Deliveries<'_> {
    /// Does what a message says. Doing it twice changes nothing.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. Deliver it again then; after a number of attempts, [`crate::DeadLetters::give_up`].
    pub async fn deliver(self, message: &Message) -> Result<Delivered, RuntimeError> {
        if message.hops > self.config().hops_max {
            self.record(Metric::HopsExceeded, 1);
            tracing::error!(
                id = message.id,
                hops = message.hops,
                "a chain of messages is cut off: it has passed the hop budget"
            );
            return Ok(Delivered::Never(
                "too many messages followed from each other",
            ));
        }
        if message.task.waits_for_the_end_of_a_pause() && self.pauses().is_paused() {
            return Ok(Delivered::Paused);
        }
        let caused = self.caused_by(message);
        match Box::pin(caused.delivery().try_deliver(message)).await {
            Err(error) if error.is_contended() => Ok(Delivered::Later),
            Err(error) if error.is_paused() => Ok(Delivered::Paused),
            delivered => delivered,
        }
    }

    async fn try_deliver(self, message: &Message) -> Result<Delivered, RuntimeError> {
        let (tenant, definitions) = (&message.tenant, self.definitions());
        match &message.task {
            Task::Continue {
                instance,
                activities,
                ..
            } => {
                let activities = *activities;
                let request = WakeRequest {
                    activities,
                    ..WakeRequest::new(instance.as_str(), Stimulus::Continue)
                };
                self.wake(tenant, request).await
            }
            Task::Fire { timer } => self.deliver_timer(timer).await,
            Task::Start {
                instance,
                definition,
                start,
            } => {
                let request = start.request(instance, definition);
                self.deliver_start(tenant, request).await
            }
            Task::StartChild { child } => self.deliver_child(tenant, child).await,
            Task::Resume {
                instance,
                bookmark,
                input,
            } => {
                let request = resuming(instance, bookmark, input.clone());
                self.wake(tenant, request).await
            }
            Task::Stimulate { stimulus } => {
                self.stimuli().stimulate(tenant, stimulus).await?;
                Ok(Delivered::Done)
            }
            Task::StimulateOn { stimulus, cursor } => {
                self.stimuli()
                    .stimulate_on(tenant, stimulus, cursor.clone())
                    .await?;
                Ok(Delivered::Done)
            }
            Task::RequestTask { request } => self.deliver_request(request).await,
            Task::Tell { event } => self.deliver_event(event).await,
            Task::Cancel { instance } => self.deliver_cancel(tenant, instance).await,
            Task::CallInBackground { instance, bookmark } => {
                self.deliver_call(tenant, instance, bookmark).await
            }
            Task::Perform { .. } => self.tasks().perform(tenant, &message.task).await,
            Task::CleanDeleted { instance } => self.deliver_clean(tenant, instance).await,
            Task::ScheduleTriggers(published) => {
                definitions.schedule_triggers(tenant, published).await
            }
            Task::UpdateConsumers(published) => {
                definitions.update_consumers(tenant, published).await
            }
            Task::CarryOutPlan { plan } => self.operations().carry_out_plan(tenant, plan).await,
            Task::StartBuffered {
                definition_id,
                activity_id,
            } => {
                self.timers()
                    .start_buffered(tenant, definition_id, activity_id)
                    .await
            }
        }
    }

    async fn deliver_timer(self, timer: &Timer) -> Result<Delivered, RuntimeError> {
        Ok(match self.timers().fire(timer).await? {
            TimerOutcome::Later => Delivered::Later,
            TimerOutcome::Fired(_) | TimerOutcome::Stale | TimerOutcome::Early => Delivered::Done,
        })
    }

    async fn deliver_request(self, request: &TaskRequest) -> Result<Delivered, RuntimeError> {
        if let Some(bus) = &self.ports().bus {
            bus.request_task(request).await.map_err(RuntimeError::Bus)?;
        }
        Ok(Delivered::Done)
    }

    async fn deliver_event(self, event: &LifecycleEvent) -> Result<Delivered, RuntimeError> {
        if let Some(bus) = &self.ports().bus {
            bus.tell(event).await.map_err(RuntimeError::Bus)?;
        }
        Ok(Delivered::Done)
    }

    async fn deliver_clean(
        self,
        tenant: &Tenant,
        instance: &InstanceId,
    ) -> Result<Delivered, RuntimeError> {
        let (store, id) = (self.store(), instance.as_str());
        while !store
            .instances()
            .clean_deleted(tenant, id, self.now().0)
            .await?
        {}
        Ok(Delivered::Done)
    }

    async fn wake(self, tenant: &Tenant, request: WakeRequest) -> Result<Delivered, RuntimeError> {
        let advanced = self.kernel().advance(tenant, request).await?;
        Ok(outcome(advanced).settled())
    }

    async fn deliver_start(
        self,
        tenant: &Tenant,
        request: StartRequest,
    ) -> Result<Delivered, RuntimeError> {
        Ok(match self.instances().start(tenant, request).await? {
            StartOutcome::Started(_)
            | StartOutcome::AlreadyStarted(_)
            | StartOutcome::Deleted { .. }
            | StartOutcome::Stale => Delivered::Done,
            StartOutcome::NotAllowed { holder } => {
                tracing::info!(
                    holder,
                    "a dispatched start was left out: another instance runs"
                );
                Delivered::Done
            }
            StartOutcome::NotFound => Delivered::Never("there is no such definition"),
        })
    }

    async fn deliver_child(
        self,
        tenant: &Tenant,
        child: &Child,
    ) -> Result<Delivered, RuntimeError> {
        match self
            .instances()
            .start(tenant, StartRequest::of_child(child))
            .await?
        {
            StartOutcome::Started(_)
            | StartOutcome::AlreadyStarted(_)
            | StartOutcome::Deleted { .. }
            | StartOutcome::NotAllowed { .. }
            | StartOutcome::Stale => Ok(Delivered::Done),
            StartOutcome::NotFound => {
                let parent = child.start.parent.as_ref();
                let Some((parent, bookmark)) =
                    parent.and_then(|p| p.bookmark.as_ref().map(|b| (&p.instance, b)))
                else {
                    return Ok(Delivered::Never("there is no such definition"));
                };
                let input = not_started(child, &no_such_workflow(&child.definition_id));
                self.wake(tenant, resuming(parent, bookmark, input)).await
            }
        }
    }

    async fn deliver_cancel(
        self,
        tenant: &Tenant,
        instance: &InstanceId,
    ) -> Result<Delivered, RuntimeError> {
        let outcome = self.instances().cancel(tenant, instance.as_str()).await?;
        // Its start may still lie in the outbox. It must not be forgotten to cancel it then.
        if matches!(outcome, ResumeOutcome::NotFound) {
            return Ok(Delivered::Missing);
        }
        Ok(outcome.settled())
    }

    /// Makes a call without the lease, and hands the answer in.
    async fn deliver_call(
        self,
        tenant: &Tenant,
        instance_id: &InstanceId,
        bookmark: &BookmarkId,
    ) -> Result<Delivered, RuntimeError> {
        let Some(found) = self.query().instance(tenant, instance_id.as_str()).await? else {
            return Ok(Delivered::Done);
        };
        let wait = found.instance.bookmark(bookmark).map(|b| &b.wait);
        let Some(Wait::Call(request)) = wait else {
            return Ok(Delivered::Done);
        };
        let answer = self
            .kernel()
            .answer((tenant, instance_id.as_str()), request)
            .await?;
        let stimulus = Stimulus::Answered {
            bookmark: bookmark.clone(),
            answer,
        };
        let request = at(instance_id, bookmark, stimulus);
        self.wake(tenant, request).await
    }
}

fn resuming(
    instance: &InstanceId,
    bookmark: &BookmarkId,
    input: Map<String, Value>,
) -> WakeRequest {
    let stimulus = Stimulus::Resume {
        bookmark: bookmark.clone(),
        input,
    };
    at(instance, bookmark, stimulus)
}

/// Request to wake one bookmark.
fn at(instance: &InstanceId, bookmark: &BookmarkId, stimulus: Stimulus) -> WakeRequest {
    let target = Target::Bookmark {
        id: bookmark.as_str().to_owned(),
        stamp: None,
        stimulus,
    };
    WakeRequest::to(instance.as_str(), target)
}
