//! A task that waits to be done or is being done, as those around an instance see it.

use std::any::Any;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Own;
use crate::activity::run_task::task_id;
use crate::activity_type::ActivityType;
use crate::effect::Effect;
use crate::graph::Graph;
use crate::id::{BookmarkId, InstanceId};
use crate::instance::{Bookmark, Instance, Memory};
use crate::time::Timestamp;

/// The member of a bookmark's payload that says what it is for.
pub(super) const FOR: &str = "For";

/// What an activity remembers of its task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Progress {
    /// Which attempt it is, from 1.
    pub(super) attempt: u32,
    /// How often this attempt was lost.
    pub(super) lost: u32,
    /// Names the activity's execution for whoever must tell a repetition.
    pub(super) serial: u64,
    pub(super) input: Map<String, Value>,
    /// What the last heartbeat told.
    pub(super) details: Value,
    /// The bookmark of the attempt.
    pub(super) task: Option<BookmarkId>,
    /// The timer of the attempt's end.
    pub(super) end: Option<BookmarkId>,
    /// The timer of the next heartbeat.
    pub(super) heartbeat: Option<BookmarkId>,
    /// Who has taken it.
    pub(super) lease: Option<String>,
    pub(super) deadline: Option<Timestamp>,
}

pub(super) fn progress_of(memory: &Memory) -> Option<Progress> {
    match memory {
        Memory::Json(json) => serde_json::from_value(json.clone()).ok(),
        Memory::None | Memory::Count(_) | Memory::Flow(_) | Memory::Retry(_) => None,
    }
}

/// Around a task.
pub(super) struct Facts<'a> {
    pub(super) task_id: &'a str,
    pub(super) instance: &'a InstanceId,
    pub(super) definition_id: &'a str,
    pub(super) correlation_id: Option<&'a str>,
    pub(super) tenant: Option<&'a str>,
}

/// What every handler is told.
pub(super) fn body(ty: &ActivityType, progress: &Progress, facts: &Facts<'_>) -> Value {
    json!({
        "taskId": facts.task_id,
        "type": ty.type_name,
        "version": ty.version,
        "attempt": progress.attempt,
        "input": progress.input,
        "deadline": progress.deadline.map(|at| at.to_string()),
        "heartbeatMs": ty.heartbeat_ms,
        "heartbeatDetails": progress.details,
        "idempotencyKey": format!("{}/{}", facts.instance, progress.serial),
        "workflow": {
            "definitionId": facts.definition_id,
            "instanceId": facts.instance,
            "correlationId": facts.correlation_id,
            "tenantId": facts.tenant,
        },
    })
}

/// A task that waits to be done or is being done.
#[derive(Debug)]
pub struct OpenTask<'a> {
    /// The activity's type.
    pub activity_type: &'a ActivityType,
    /// Who has taken it.
    pub lease: Option<String>,
    /// When its attempt ends.
    pub deadline: Option<Timestamp>,
    id: String,
    progress: Progress,
}

impl OpenTask<'_> {
    /// What whoever does it is told.
    #[must_use]
    pub fn body(&self, instance: &Instance, tenant: &str) -> Value {
        let facts = Facts {
            task_id: &self.id,
            instance: &instance.id,
            definition_id: &instance.definition_id,
            correlation_id: instance.correlation_id.as_deref(),
            tenant: Some(tenant),
        };
        body(self.activity_type, &self.progress, &facts)
    }
}

/// The task at a bookmark. `None`: it is gone, or no task of a type that is data.
#[must_use]
pub fn open_task<'a>(
    graph: &'a Graph,
    instance: &Instance,
    bookmark: &BookmarkId,
) -> Option<OpenTask<'a>> {
    let open = instance.bookmark(bookmark)?;
    let context = instance.contexts.get(&open.context)?;
    let activity: &dyn Any = graph.node(context.node).activity.as_ref();
    let own = activity.downcast_ref::<Own>()?;
    let progress = progress_of(&context.memory)?;
    (progress.task.as_ref() == Some(bookmark)).then(|| OpenTask {
        activity_type: &own.ty,
        lease: progress.lease.clone(),
        deadline: progress.deadline,
        id: task_id(&instance.id, bookmark),
        progress,
    })
}

/// Whether a bookmark is a task of a type that is data.
#[must_use]
pub fn is_task(bookmark: &Bookmark) -> bool {
    bookmark.payload.get(FOR).and_then(Value::as_str) == Some("task")
        && bookmark.payload.get("Type").is_some()
}

/// Asks again for a task that nobody has taken, for an instance that comes from elsewhere.
#[must_use]
pub fn ask_again(bookmark: &Bookmark) -> Option<Effect> {
    if !is_task(bookmark) || bookmark.payload.get("TakenBy").is_some() {
        return None;
    }
    let text = |name: &str| {
        let text = bookmark.payload.get(name)?.as_str()?;
        Some(text.to_owned())
    };
    Some(Effect::Perform {
        bookmark: bookmark.id.clone(),
        queue: text("Queue"),
        activity_type: text("Type")?,
        since: bookmark.created_at,
    })
}
