//! Messages: what is to be done after a commit, by this node or another. They lie in the outbox and in queues, so
//! their names are stable for ever.

use bytes::Bytes;
use dormouse_engine::effect::{Child, ParentLink};
use dormouse_engine::id::{BookmarkId, InstanceId};
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::outbox::row::Effect;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::RuntimeError;
use crate::work::definition_handle::DefinitionHandle;
use crate::work::lifecycle_event::LifecycleEvent;
use crate::work::start::StartRequest;
use crate::work::stimulus::StimulusRequest;
use crate::work::task_request::TaskRequest;
use crate::work::tenant_serde;
use crate::work::timer::Timer;

/// Something to do. Doing it twice changes nothing: every kind names what it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its id: `instance/commit/place`, or the event's.
    pub id: String,
    /// Whose it is.
    #[serde(with = "tenant_serde")]
    pub tenant: Tenant,
    /// How many messages led to this one without anybody having waited in between.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hops: u32,
    /// How often it was put back because it had to wait for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delays: u32,
    /// What to do.
    pub task: Task,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it in so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Task {
    /// Go on with a burst that was interrupted, or made way.
    Continue {
        /// The instance.
        instance: InstanceId,
        /// Activities that ran since the instance last waited.
        #[serde(default)]
        activities: u64,
        /// Whether it made way: then it is to be done at once, and not only after a crash.
        #[serde(default)]
        made_way: bool,
    },
    /// Fire a timer that is due.
    Fire {
        /// The timer.
        timer: Timer,
    },
    /// Start an instance.
    Start {
        /// Its id.
        instance: InstanceId,
        /// What it runs.
        definition: DefinitionHandle,
        /// How it begins.
        start: StartFacts,
    },
    /// Start a child.
    StartChild {
        /// The child.
        child: Child,
    },
    /// Resume a bookmark.
    Resume {
        /// The instance.
        instance: InstanceId,
        /// The bookmark.
        bookmark: BookmarkId,
        /// What it receives.
        input: Map<String, Value>,
    },
    /// Tell everybody who waits for a stimulus, and start whom it triggers.
    Stimulate {
        /// The stimulus.
        stimulus: StimulusRequest,
    },
    /// Go on with a stimulus at a page of its recipients.
    StimulateOn {
        /// The stimulus.
        stimulus: StimulusRequest,
        /// Where the page begins.
        cursor: String,
    },
    /// Ask an outside worker to do a task.
    RequestTask {
        /// The request.
        request: TaskRequest,
    },
    /// Tell the bus what happened to an instance.
    Tell {
        /// What happened.
        event: LifecycleEvent,
    },
    /// Cancel an instance.
    Cancel {
        /// The instance.
        instance: InstanceId,
    },
    /// Make a call without holding the instance, and resume its bookmark with the answer.
    CallInBackground {
        /// The instance.
        instance: InstanceId,
        /// The bookmark.
        bookmark: BookmarkId,
    },
    /// Have the task of an activity whose type is data done.
    Perform {
        /// The instance.
        instance: InstanceId,
        /// The bookmark of the attempt.
        bookmark: BookmarkId,
        /// The queue of the workers who may do it. `None`: its handler is called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue: Option<String>,
        /// The activity's type.
        activity_type: String,
        /// Since when it is to be done.
        since: Timestamp,
    },
    /// Remove what a deleted instance left.
    CleanDeleted {
        /// The instance.
        instance: InstanceId,
    },
    /// Schedule the first occurrences of a publication.
    ScheduleTriggers(Published),
    /// Move the consumers of a publication to its version.
    UpdateConsumers(Published),
    /// Go on with an alteration plan.
    CarryOutPlan {
        /// The plan's id.
        plan: String,
    },
    /// Start the occurrence that waits for an earlier one's end.
    StartBuffered {
        /// The definition.
        definition_id: String,
        /// The trigger's activity.
        activity_id: String,
    },
}

impl Task {
    /// Whether it is work that any node may do, rather than something that is handed on in one call.
    pub(crate) fn is_work(&self) -> bool {
        match self {
            Self::RequestTask { .. } | Self::Tell { .. } | Self::ScheduleTriggers(_) => false,
            Self::Continue { .. }
            | Self::Fire { .. }
            | Self::Start { .. }
            | Self::StartChild { .. }
            | Self::Resume { .. }
            | Self::Stimulate { .. }
            | Self::StimulateOn { .. }
            | Self::Cancel { .. }
            | Self::CallInBackground { .. }
            | Self::Perform { queue: None, .. }
            | Self::CleanDeleted { .. }
            | Self::UpdateConsumers(_)
            | Self::CarryOutPlan { .. }
            | Self::StartBuffered { .. } => true,
            // One plain write.
            Self::Perform { queue: Some(_), .. } => false,
        }
    }

    /// Whether doing it twice at once would ask somebody outside twice.
    pub(crate) fn is_call(&self) -> bool {
        matches!(
            self,
            Self::CallInBackground { .. } | Self::Perform { queue: None, .. }
        )
    }
}

impl Task {
    /// Whether it starts or wakes an instance, so that it is not done during a pause. What was promised to the world
    /// outside, and what ends or removes something, is.
    pub(crate) fn waits_for_the_end_of_a_pause(&self) -> bool {
        match self {
            Self::Continue { .. }
            | Self::Fire { .. }
            | Self::Start { .. }
            | Self::StartChild { .. }
            | Self::Resume { .. }
            | Self::Stimulate { .. }
            | Self::StimulateOn { .. }
            | Self::CallInBackground { .. }
            | Self::Perform { queue: None, .. }
            | Self::CarryOutPlan { .. }
            | Self::StartBuffered { .. } => true,
            // Who asks for it is refused meanwhile.
            Self::Perform { queue: Some(_), .. }
            | Self::RequestTask { .. }
            | Self::Tell { .. }
            | Self::Cancel { .. }
            | Self::CleanDeleted { .. }
            | Self::ScheduleTriggers(_)
            | Self::UpdateConsumers(_) => false,
        }
    }
}

/// A publication that was about to be made when the message was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Published {
    /// The definition.
    pub definition_id: String,
    /// The revision that it has once it is published.
    pub revision: u64,
    /// When it was to be published.
    pub at: Timestamp,
}

/// How an instance begins, as a message carries it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StartFacts {
    /// Values for the workflow's inputs.
    pub input: Map<String, Value>,
    /// The correlation id.
    pub correlation_id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The id of the activity that was triggered.
    pub trigger_activity_id: Option<String>,
    /// Properties.
    pub properties: Map<String, Value>,
    /// Who started it and wants to know of its end.
    pub parent: Option<ParentLink>,
    /// Whether the definition's activation strategy does not count.
    pub ignores_activation: bool,
}

impl StartFacts {
    /// The start of an instance with an id.
    pub(crate) fn request(
        &self,
        instance: &InstanceId,
        definition: &DefinitionHandle,
    ) -> StartRequest {
        let facts = self.clone();
        StartRequest {
            instance_id: Some(instance.to_string()),
            input: facts.input,
            correlation_id: facts.correlation_id,
            name: facts.name,
            trigger_activity_id: facts.trigger_activity_id,
            properties: facts.properties,
            parent: facts.parent,
            ignores_activation: facts.ignores_activation,
            ..StartRequest::new(definition.clone())
        }
    }
}

impl Message {
    /// A message that no other led to.
    #[must_use]
    pub fn new(id: impl Into<String>, tenant: Tenant, task: Task) -> Self {
        Self {
            id: id.into(),
            tenant,
            hops: 0,
            delays: 0,
            task,
        }
    }

    /// The message as an effect of the outbox.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Format`]
    pub fn effect(&self) -> Result<Effect, RuntimeError> {
        Ok(Effect {
            id: self.id.clone(),
            body: self.encode()?,
        })
    }

    /// The message as JSON.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Format`]
    pub fn encode(&self) -> Result<Bytes, RuntimeError> {
        serde_json::to_vec(self)
            .map(Bytes::from)
            .map_err(RuntimeError::format("message"))
    }

    /// Reads what [`Self::encode`] wrote.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Format`]
    pub fn decode(bytes: &[u8]) -> Result<Self, RuntimeError> {
        serde_json::from_slice(bytes).map_err(RuntimeError::format("message"))
    }
}
