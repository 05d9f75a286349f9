//! Word of a task, as a resume brings it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::task::is_task;
use crate::instance::Bookmark;

/// The name under which word of a task comes with the resume.
pub const TASK: &str = "Task";

/// Word of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "camelCase")]
pub enum Word {
    /// A worker has taken it; of several the first one.
    Taken {
        /// Unique to this taking.
        lease: String,
        /// Who.
        worker: String,
    },
    /// Its handler has begun and will answer later.
    Accepted,
    /// Whoever does it is still at work.
    Heartbeat {
        /// What the next attempt is told.
        details: Value,
    },
    /// It is answered: `{outputs, outcome}` or `{error}`.
    Answered {
        /// The answer.
        answer: Value,
    },
}

impl Word {
    /// As a resume brings it.
    #[must_use]
    pub fn input(&self) -> Map<String, Value> {
        let word = serde_json::to_value(self).unwrap_or(Value::Null);
        Map::from_iter([(TASK.to_owned(), word)])
    }

    /// What a resume brought. `None`: nothing of the kind.
    #[must_use]
    pub fn of(input: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(input.get(TASK)?.clone()).ok()
    }
}

/// Whether it is word of a task that the journal does not tell: a heartbeat, or a taking that comes too late. There may be
/// thousands.
pub(crate) fn is_in_passing(bookmark: &Bookmark, input: &Map<String, Value>) -> bool {
    is_task(bookmark)
        && match Word::of(input) {
            Some(Word::Heartbeat { .. }) => true,
            Some(Word::Taken { .. }) => bookmark.payload.get("TakenBy").is_some(),
            Some(Word::Accepted | Word::Answered { .. }) | None => false,
        }
}
