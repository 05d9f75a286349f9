//! Delivering a stimulus: starting whom it triggers, resuming who waits for it, and keeping it where nobody does.

use dormouse_engine::activity::event::{EVENT, hashed};
use dormouse_engine::graph::stimulus_hash;
use dormouse_engine::step::Stimulus;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::addressees::Earlier;
use dormouse_store::bookmark::BookmarkRow;
use dormouse_store::commit::Consumed;
use dormouse_store::trigger::TriggerRow;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::advance::Waking;
use crate::burst::Cause;
use crate::definition_handle::DefinitionHandle;
use crate::derived_id::derived_id;
use crate::error::RuntimeError;
use crate::receivers::{Found, Receivers, owned};
use crate::resume::ResumeOutcome;
use crate::runtime::Runtime;
use crate::start::{StartOutcome, StartRequest};

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

/// The hash of an event of a name.
pub(crate) fn event_hash(name: &str) -> String {
    stimulus_hash(EVENT, &hashed(name))
}

/// How often triggers are looked for again because a publish came in between.
const LOOKS_MAX: u32 = 5;

/// What became of those that one look has found.
#[derive(Default)]
struct Delivery {
    outcome: StimulusOutcome,
    /// A trigger was published anew meanwhile.
    is_stale: bool,
    /// Receivers that could not be reached now.
    failure: Option<RuntimeError>,
}

/// What became of one receiver.
enum Reached {
    Started(String),
    Resumed(String),
    Stale,
    Nobody,
    Failed(RuntimeError),
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
        self.refuse_while_paused()?;
        let mut looks = 1;
        let delivery = loop {
            let receivers = match self.receivers(tenant, stimulus).await? {
                Found::Kept => return self.deliver_kept(tenant, stimulus).await,
                Found::Taken => return Ok(StimulusOutcome::default()),
                Found::Receivers(receivers) => receivers,
            };
            let delivery = self.reach_all(tenant, stimulus, receivers).await?;
            if !delivery.is_stale || looks == LOOKS_MAX {
                break delivery;
            }
            looks += 1;
        };
        if let Some(failure) = delivery.failure {
            return Err(failure);
        }
        let outcome = delivery.outcome;
        let kept_ms = stimulus.kept_ms.unwrap_or(self.config().event_ms);
        let has_receivers = !outcome.started.is_empty() || !outcome.resumed.is_empty();
        if has_receivers || kept_ms <= 0 {
            return Ok(outcome);
        }
        self.keep(tenant, stimulus, kept_ms).await
    }

    /// Keeps a stimulus that nobody has received for whoever comes, unless somebody has had it before.
    async fn keep(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        kept_ms: i64,
    ) -> Result<StimulusOutcome, RuntimeError> {
        let kept = stimulus.keep(kept_ms, self.now())?;
        let store = self.store();
        let earlier = store.queue_stimulus(tenant, &kept, None).await?;
        if let Earlier::AddressedTo(addressees) = earlier {
            let addressed = owned(addressees.besides(&[]));
            let before = self.before(tenant, stimulus, &addressed).await?;
            if !before.seen.is_empty() {
                return Ok(StimulusOutcome {
                    resumed: before.seen,
                    ..StimulusOutcome::default()
                });
            }
            if let Some(failure) = before.failure {
                return Err(failure);
            }
            // They had other reasons not to wait any more.
            store
                .queue_stimulus(tenant, &kept, Some(&addressees))
                .await?;
        }
        // A bookmark may have been opened since the look, by a commit that looked before this was kept.
        self.deliver_kept(tenant, stimulus).await
    }

    /// Reaches those who are to have a stimulus.
    async fn reach_all(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        receivers: Receivers,
    ) -> Result<Delivery, RuntimeError> {
        let before = self.before(tenant, stimulus, &receivers.before).await?;
        let mut delivery = Delivery {
            failure: before.failure,
            ..Delivery::default()
        };
        delivery.outcome.resumed = before.seen;
        let mut all: Vec<BoxFuture<'_, Reached>> = Vec::new();
        for row in &receivers.triggers {
            all.push(self.reach_trigger(tenant, stimulus, row).boxed());
        }
        for row in &receivers.bookmarks {
            all.push(self.reach_bookmark(tenant, stimulus, row).boxed());
        }
        let reached: Vec<_> = stream::iter(all)
            .buffer_unordered(self.config().deliveries_parallel_max.max(1))
            .collect()
            .await;
        for one in reached {
            match one {
                Reached::Started(id) => delivery.outcome.started.push(id),
                Reached::Resumed(id) => delivery.outcome.resumed.push(id),
                Reached::Stale => delivery.is_stale = true,
                Reached::Nobody => {}
                Reached::Failed(error) => delivery.failure = Some(error),
            }
        }
        Ok(delivery)
    }

    async fn reach_trigger(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        row: &TriggerRow,
    ) -> Reached {
        let activity_id = &row.trigger.activity_id;
        let id = derived_id(
            "event",
            &[
                tenant.as_str(),
                &stimulus.id,
                &row.definition_id,
                activity_id,
            ],
        );
        let request = StartRequest {
            instance_id: Some(id),
            input: stimulus.input.clone(),
            correlation_id: stimulus.correlation_id.clone(),
            trigger_activity_id: Some(activity_id.clone()),
            trigger_generation: Some(row.generation),
            ..StartRequest::new(DefinitionHandle::published(&row.definition_id))
        };
        match self.start(tenant, request).await {
            Ok(StartOutcome::Started(report)) => Reached::Started(report.instance.id.to_string()),
            Ok(StartOutcome::AlreadyStarted(head)) => Reached::Started(head.instance_id),
            Ok(StartOutcome::Deleted { instance_id }) => Reached::Started(instance_id),
            Ok(StartOutcome::Stale) => Reached::Stale,
            Ok(StartOutcome::NotAllowed { .. } | StartOutcome::NotFound) => Reached::Nobody,
            Err(error) => Reached::Failed(error),
        }
    }

    async fn reach_bookmark(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        row: &BookmarkRow,
    ) -> Reached {
        let waking = stimulus.waking(row, None);
        match self.advance(tenant, waking).await {
            Ok(advanced) => match advanced.outcome() {
                ResumeOutcome::Resumed(report) => Reached::Resumed(report.instance.id.to_string()),
                ResumeOutcome::Seen(head) => Reached::Resumed(head.instance_id),
                // One that opens soon looks for what is kept when it does.
                ResumeOutcome::NotYet(_) => Reached::Nobody,
                ResumeOutcome::BookmarkGone(_)
                | ResumeOutcome::Ended(_)
                | ResumeOutcome::Deleted
                | ResumeOutcome::NotFound => {
                    // A row that leads nowhere was left by an interrupted write; the next sender need not ask.
                    match self.store().forget_bookmark(tenant, row).await {
                        Ok(()) => Reached::Nobody,
                        Err(error) => Reached::Failed(error.into()),
                    }
                }
            },
            Err(error) => Reached::Failed(error),
        }
    }
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

    /// What it does to a bookmark.
    pub(crate) fn waking(&self, row: &BookmarkRow, consumed: Option<Consumed>) -> Waking {
        let stimulus = Stimulus::Resume {
            bookmark: row.bookmark_id.as_str().into(),
            input: self.input.clone(),
        };
        Waking {
            cause: Cause {
                event_id: Some(self.id.clone()),
                consumed,
                ..Cause::default()
            },
            ..Waking::new(&row.instance_id, stimulus).at(&row.bookmark_id, row.commit)
        }
    }
}
