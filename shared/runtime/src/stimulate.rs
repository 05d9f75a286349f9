//! Delivering a stimulus: starting whom it triggers, resuming who waits for it, and keeping it where nobody does.

use dormouse_engine::graph::stimulus_hash;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// A stimulus and whom it is for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StimulusRequest {
    /// Its id. The same stimulus delivered twice counts once.
    pub id: String,
    /// Under which triggers and bookmarks are found.
    pub hash: String,
    /// What they receive.
    pub input: Map<String, Value>,
    /// Only instances with this correlation id, and the id of the ones it starts.
    pub correlation_id: Option<String>,
    /// Only this instance. Then it starts nothing.
    pub instance_id: Option<String>,
    /// Only this bookmark. Then it starts nothing.
    pub bookmark_id: Option<String>,
    /// Only this execution of an activity. Then it starts nothing.
    pub activity_instance_id: Option<String>,
    /// When it came.
    pub at: Timestamp,
    /// How long it is kept if nothing waits for it, in ms; 0: not at all. `None`: the runtime's default.
    pub kept_ms: Option<i64>,
}

impl StimulusRequest {
    /// A stimulus of a name and a payload that is hashed, for everybody.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        name: &str,
        hashed: &Value,
        input: Map<String, Value>,
    ) -> Self {
        Self {
            id: id.into(),
            hash: stimulus_hash(name, hashed),
            input,
            ..Self::default()
        }
    }
}

/// What became of a stimulus.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StimulusOutcome {
    /// The instances that it started, those of an earlier delivery of it included.
    pub started: Vec<String>,
    /// The instances that it resumed.
    pub resumed: Vec<String>,
    /// Whether it is kept for a bookmark that may come.
    pub kept: bool,
}

impl Runtime {
    /// Delivers a stimulus. Only [`Self::publish_event`] promises that a crash does not lose it.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. The same call again delivers what is missing and nothing twice.
    pub async fn stimulate(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
    ) -> Result<StimulusOutcome, RuntimeError> {
        let _ = (tenant, stimulus);
        todo!()
    }
}
