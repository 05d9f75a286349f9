//! A point where an instance waits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::Request;
use crate::id::{BookmarkId, ContextId};
use crate::time::Timestamp;

/// What a bookmark waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Wait {
    /// A stimulus that is found by its hash.
    Stimulus {
        /// Of the name and payload; see [`crate::graph::stimulus_hash`].
        hash: String,
    },
    /// A point in time.
    Timer {
        /// When.
        due: Timestamp,
    },
    /// Somebody who knows the bookmark: a task's worker, a child, a link.
    Direct,
    /// The answer of a call that the shell makes.
    Call(Box<Request>),
}

/// A point where an instance waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bookmark {
    /// Its id.
    pub id: BookmarkId,
    /// The stimulus's name; the activity's type unless the activity says otherwise.
    pub name: String,
    /// What it waits for.
    pub wait: Wait,
    /// What the waiting activity keeps with it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub payload: Value,
    /// The activity's execution.
    pub context: ContextId,
    /// Whether resuming removes it.
    pub auto_burn: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Bookmark {
    /// The hash under which a stimulus finds it.
    #[must_use]
    pub fn hash(&self) -> Option<&str> {
        match &self.wait {
            Wait::Stimulus { hash } => Some(hash),
            Wait::Timer { .. } | Wait::Direct | Wait::Call(_) => None,
        }
    }

    /// When it is due, for one that waits for a time.
    #[must_use]
    pub fn due(&self) -> Option<Timestamp> {
        match &self.wait {
            Wait::Timer { due } => Some(*due),
            Wait::Stimulus { .. } | Wait::Direct | Wait::Call(_) => None,
        }
    }
}
