//! What the shell must do after the commit that recorded it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{BookmarkId, InstanceId};
use crate::instance::Start;
use crate::time::Timestamp;

/// Who started an instance and where it waits for the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParentLink {
    /// The parent.
    pub instance: InstanceId,
    /// The bookmark that the end resumes. `None`: nobody waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<BookmarkId>,
    /// The child's number among the parent's, which comes back with its end.
    #[serde(default)]
    pub serial: u64,
}

/// A child that is to be started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Child {
    /// The id it will have, derived from the parent, so that a repeated start finds it.
    pub instance: InstanceId,
    /// Its definition; the published version is taken.
    pub definition_id: String,
    /// How it begins.
    pub start: Start,
}

/// What the shell must do after the commit that recorded it. Each may be done more than once under the same id
/// (`instance/commit/place`), and only the first time counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Effect {
    /// Resume the bookmark at its time.
    Timer {
        /// The bookmark.
        bookmark: BookmarkId,
        /// When.
        due: Timestamp,
    },
    /// Start a child. One that cannot be started is told to a parent that waits, with [`crate::step::not_started`].
    StartChild(Child),
    /// Tell everybody who waits for an event, and start whom it triggers.
    PublishEvent {
        /// The event's name.
        name: String,
        /// Only instances with this correlation id, and the id of the ones it starts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_id: Option<String>,
        /// Only this instance: a local event for which nothing waited yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instance: Option<InstanceId>,
        /// What they receive.
        payload: Value,
    },
    /// Ask an outside worker to do a task.
    RequestTask {
        /// What the worker names when it is done.
        task_id: String,
        /// What to do.
        name: String,
        /// With what.
        payload: Value,
    },
    /// Have the task of an activity whose type is data done: the instance says what it is.
    Perform {
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
    /// Tell the parent that this instance has ended.
    ResumeParent {
        /// The parent.
        parent: InstanceId,
        /// The bookmark it waits at.
        bookmark: BookmarkId,
        /// What it receives.
        input: Map<String, Value>,
    },
    /// Cancel a child.
    CancelChild {
        /// The child.
        instance: InstanceId,
    },
    /// Make a call of a background activity and resume the bookmark with the answer, without holding the instance meanwhile.
    CallInBackground {
        /// The bookmark.
        bookmark: BookmarkId,
    },
}
