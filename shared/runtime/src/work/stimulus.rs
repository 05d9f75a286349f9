//! Stimuli, and what comes of them.

use dormouse_engine::activity::event::{EVENT, hashed};
use dormouse_engine::call::HttpResponse;
use dormouse_engine::graph::stimulus_hash;
use dormouse_engine::time::Timestamp;
use dormouse_store::instance::stamp::Stamp;
use dormouse_store::stimulus::bookmark::BookmarkRow;
use dormouse_store::stimulus::queued_stimulus::QueuedStimulus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::RuntimeError;
use crate::work::target::{Matching, Target};
use crate::work::wake::WakeRequest;

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
    /// How long it is queued if nothing waits for it, in ms; 0: not at all. `None`: the runtime's default.
    #[serde(rename = "keptMs")]
    pub queued_ms: Option<i64>,
    /// Whether a request waits for what the workflows answer. Not part of a message: no request waits for that.
    #[serde(skip)]
    pub has_http_request: bool,
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

/// Outcome of delivering a stimulus.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StimulusOutcome {
    /// The instances that it started, those of an earlier delivery of it included.
    pub started: Vec<String>,
    /// The instances that it resumed: the first [`NAMED_MAX`] of them.
    pub resumed: Vec<String>,
    /// How many instances it reached.
    pub reached: u64,
    /// Whether it is queued for a bookmark that may come.
    pub queued: bool,
    /// What the first workflow that answers the request answers.
    pub response: Option<HttpResponse>,
}

/// At most so many instances are named in an outcome.
pub const NAMED_MAX: usize = 1_000;

impl StimulusOutcome {
    /// Notes what a workflow answers. The first has answered the request.
    pub(crate) fn answered(&mut self, response: Option<HttpResponse>) {
        if self.response.is_none() {
            self.response = response;
        }
    }

    pub(crate) fn resumed(&mut self, instance_id: String) {
        self.reached += 1;
        if self.resumed.len() < NAMED_MAX {
            self.resumed.push(instance_id);
        }
    }

    pub(crate) fn started(&mut self, instance_id: String) {
        self.reached += 1;
        if self.started.len() < NAMED_MAX {
            self.started.push(instance_id);
        }
    }
}

/// The hash of an event of a name.
pub(crate) fn event_hash(name: &str) -> String {
    stimulus_hash(EVENT, &hashed(name))
}

impl StimulusRequest {
    /// Whether it is for somebody in particular, so that it starts nothing.
    pub(crate) fn is_targeted(&self) -> bool {
        self.instance_id.is_some()
            || self.bookmark_id.is_some()
            || self.activity_instance_id.is_some()
    }

    /// Whether a bookmark is one that it is for.
    pub(crate) fn is_for(&self, row: &BookmarkRow) -> bool {
        let fits = |wanted: &Option<String>, found: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == found
        };
        fits(&self.instance_id, Some(&row.instance_id))
            && fits(&self.bookmark_id, Some(&row.bookmark_id))
            && fits(&self.correlation_id, row.found_by.correlation_id.as_deref())
            && fits(
                &self.activity_instance_id,
                row.found_by.activity_instance_id.as_deref(),
            )
    }

    /// Request to wake whatever of an instance waits for it.
    pub(crate) fn wake_request(&self, instance_id: &str) -> WakeRequest {
        let matching = Matching {
            hash: self.hash.clone(),
            bookmark_id: self.bookmark_id.clone(),
            correlation_id: self.correlation_id.clone(),
            activity_instance_id: self.activity_instance_id.clone(),
            input: self.input.clone(),
            found: Vec::new(),
            is_first_only: false,
        };
        WakeRequest {
            event_id: Some(self.id.clone()),
            has_http_request: self.has_http_request,
            ..WakeRequest::to(instance_id, Target::Matching(Box::new(matching)))
        }
    }

    /// The same for an instance that was found by bookmarks, and the commits that opened them, where they are known.
    pub(crate) fn wake_request_at(
        &self,
        instance_id: &str,
        bookmarks: impl Iterator<Item = (String, Option<Stamp>)>,
    ) -> WakeRequest {
        let mut request = self.wake_request(instance_id);
        if let Target::Matching(matching) = &mut request.target {
            matching.found = bookmarks.collect();
        }
        request
    }
}

impl StimulusRequest {
    /// The stimulus as it is queued.
    pub(crate) fn queued(&self, ms: i64, now: Timestamp) -> Result<QueuedStimulus, RuntimeError> {
        let payload = serde_json::to_vec(&self.input).map_err(RuntimeError::format("stimulus"))?;
        // One that was sent long ago and delivered late is queued as long as its sender wanted, from now.
        Ok(QueuedStimulus {
            id: self.id.clone(),
            hash: self.hash.clone(),
            instance_id: self.instance_id.clone(),
            bookmark_id: self.bookmark_id.clone(),
            correlation_id: self.correlation_id.clone(),
            activity_instance_id: self.activity_instance_id.clone(),
            created_ms: self.at.0,
            expires_ms: now.plus_ms(ms).0,
            payload: payload.into(),
        })
    }

    /// The stimulus that was queued.
    pub(crate) fn of_queued(queued: QueuedStimulus) -> Result<Self, RuntimeError> {
        let input =
            serde_json::from_slice(&queued.payload).map_err(RuntimeError::format("stimulus"))?;
        Ok(Self {
            id: queued.id,
            hash: queued.hash,
            input,
            correlation_id: queued.correlation_id,
            instance_id: queued.instance_id,
            bookmark_id: queued.bookmark_id,
            activity_instance_id: queued.activity_instance_id,
            at: Timestamp(queued.created_ms),
            queued_ms: None,
            has_http_request: false,
        })
    }
}
