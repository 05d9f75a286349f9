//! Lifecycle events: what a commit makes of an instance, told to the bus after it.

use dormouse_engine::instance::SubStatus;
use dormouse_engine::step::{Next, Transition};
use dormouse_engine::time::Timestamp;

use super::{Burst, Composed};
use crate::port::{LifecycleEvent, LifecycleKind};
use crate::work::message::Task;

impl Burst<'_> {
    /// Tells the bus what this commit does to the instance's life, where it wants to hear of it.
    pub(super) fn lifecycle(
        &self,
        transition: &Transition,
        (number, is_new): (u64, bool),
        now: Timestamp,
        composed: &mut Composed,
    ) {
        let bus = self.runtime.ports().bus.as_ref();
        if !bus.is_some_and(|bus| bus.hears_lifecycle()) {
            return;
        }
        let instance = &transition.instance;
        let started = is_new.then_some(LifecycleKind::InstanceStarted);
        let rests = (transition.next == Next::Rest)
            .then(|| kind(instance.sub_status))
            .flatten();
        for kind in [started, rests].into_iter().flatten() {
            let id = format!("{}/{number}/{}", instance.id, composed.messages.len());
            let event = LifecycleEvent {
                id: id.clone(),
                kind,
                at: now,
                tenant_id: self.tenant.to_string(),
                workflow_instance_id: instance.id.to_string(),
                workflow_definition_id: instance.definition_id.clone(),
                workflow_definition_version: instance.version,
                name: instance.name.clone(),
                correlation_id: instance.correlation_id.clone(),
                incident_count: u32::try_from(instance.incidents.len()).unwrap_or(u32::MAX),
            };
            composed
                .messages
                .push(self.message(id, Task::Tell { event }));
        }
    }
}

/// What an instance that rests has become.
fn kind(sub_status: SubStatus) -> Option<LifecycleKind> {
    match sub_status {
        SubStatus::Suspended => Some(LifecycleKind::InstanceSuspended),
        SubStatus::Finished => Some(LifecycleKind::InstanceFinished),
        SubStatus::Faulted => Some(LifecycleKind::InstanceFaulted),
        SubStatus::Cancelled => Some(LifecycleKind::InstanceCancelled),
        SubStatus::Pending | SubStatus::Executing | SubStatus::Interrupted => None,
    }
}
