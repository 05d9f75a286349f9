//! Delivering a stimulus: starting what it triggers, resuming what waits for it, and queueing it where nothing does.
//!
//! A page of recipients is reached at a time. Where there is a queue, the pages after the first are handed on by
//! message, so memory and time of one delivery do not depend on how many recipients there are.

use std::collections::BTreeSet;

use dormouse_engine::activity::event::{EVENT, hashed};
use dormouse_engine::graph::stimulus_hash;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::bookmark::BookmarkRow;
use dormouse_store::recipients::Earlier;
use dormouse_store::trigger::TriggerRow;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::advance::{Advanced, WakeRequest};
use crate::beside::beside;
use crate::definition_handle::DefinitionHandle;
use crate::derived_id::derived_id;
use crate::error::RuntimeError;
use crate::message::Task;
use crate::receivers::{Found, Receivers, owned};
use crate::resume::ResumeOutcome;
use crate::runtime::Runtime;
use crate::start::{StartOutcome, StartRequest};
use crate::target::{Matching, Target};

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
    pub kept: bool,
}

/// At most so many instances are named in an outcome.
pub const NAMED_MAX: usize = 1_000;

impl StimulusOutcome {
    pub(crate) fn resumed(&mut self, instance_id: String) {
        self.reached += 1;
        if self.resumed.len() < NAMED_MAX {
            self.resumed.push(instance_id);
        }
    }

    fn started(&mut self, instance_id: String) {
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

/// How often triggers are looked for again because a publish came in between.
const LOOKS_MAX: u32 = 5;

/// What became of the recipients that were reached so far.
#[derive(Default)]
pub(crate) struct Delivery {
    pub(crate) outcome: StimulusOutcome,
    /// A trigger was published anew meanwhile.
    is_stale: bool,
    /// Recipients that could not be reached now.
    pub(crate) failure: Option<RuntimeError>,
}

/// What became of one recipient.
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
        let delivery = match &stimulus.instance_id {
            Some(instance) => self.reach_only(tenant, stimulus, instance).await?,
            None => {
                let mut looks = 1;
                loop {
                    let receivers = match self.receivers(tenant, stimulus).await? {
                        Found::Queued => return self.deliver_queued(tenant, stimulus).await,
                        Found::Taken => return Ok(StimulusOutcome::default()),
                        Found::Receivers(receivers) => receivers,
                    };
                    let delivery = self.reach_all(tenant, stimulus, receivers).await?;
                    if !delivery.is_stale || looks == LOOKS_MAX {
                        break delivery;
                    }
                    looks += 1;
                }
            }
        };
        if let Some(failure) = delivery.failure {
            return Err(failure);
        }
        let outcome = delivery.outcome;
        let kept_ms = stimulus.kept_ms.unwrap_or(self.config().event_ms);
        if outcome.reached > 0 || kept_ms <= 0 {
            return Ok(outcome);
        }
        self.enqueue(tenant, stimulus, kept_ms).await
    }

    /// Goes on with a delivery at a page of its recipients.
    pub(crate) async fn stimulate_on(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        cursor: String,
    ) -> Result<(), RuntimeError> {
        self.refuse_while_paused()?;
        let mut delivery = Delivery::default();
        self.reach_pages(tenant, stimulus, Some(cursor), &mut delivery)
            .await?;
        delivery.failure.map_or(Ok(()), Err)
    }

    /// Queues a stimulus that nothing has received, unless somebody has had it before.
    async fn enqueue(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        kept_ms: i64,
    ) -> Result<StimulusOutcome, RuntimeError> {
        let queued = stimulus.queued(kept_ms, self.now())?;
        let store = self.store();
        let earlier = store.queue_stimulus(tenant, &queued, None).await?;
        if let Earlier::SentTo(recipients) = earlier {
            let before = owned(recipients.besides(&[]));
            let before = self.before(tenant, stimulus, &before).await?;
            if !before.seen.is_empty() {
                let mut outcome = StimulusOutcome::default();
                before.seen.into_iter().for_each(|id| outcome.resumed(id));
                return Ok(outcome);
            }
            if let Some(failure) = before.failure {
                return Err(failure);
            }
            // They had other reasons not to wait any more.
            store
                .queue_stimulus(tenant, &queued, Some(&recipients))
                .await?;
        }
        // A bookmark may have been opened since the look, by a commit that looked before this was queued.
        self.deliver_queued(tenant, stimulus).await
    }

    /// Reaches the one instance that a stimulus is for. Its head tells what waits there.
    async fn reach_only(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        instance_id: &str,
    ) -> Result<Delivery, RuntimeError> {
        let mut delivery = Delivery::default();
        let request = stimulus.waking(instance_id);
        match self.reached(tenant, request, None).await {
            Reached::Resumed(id) => delivery.outcome.resumed(id),
            Reached::Failed(error) => delivery.failure = Some(error),
            Reached::Started(_) | Reached::Stale | Reached::Nobody => {}
        }
        Ok(delivery)
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
        before
            .seen
            .into_iter()
            .for_each(|id| delivery.outcome.resumed(id));
        let most = self.config().deliveries_parallel_max;
        let reach = |row| Box::pin(self.reach_trigger(tenant, stimulus, row)) as BoxFuture<'_, _>;
        for reached in beside(&receivers.triggers, most, reach).await {
            delivery.note(reached);
        }
        self.reach_page(tenant, stimulus, receivers.bookmarks, &mut delivery)
            .await;
        if receivers.cursor.is_some() {
            self.hand_on(tenant, stimulus, receivers.cursor, &mut delivery)
                .await?;
        }
        Ok(delivery)
    }

    /// Hands the pages after the first on by message, where there is a queue; else reaches them here.
    async fn hand_on(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        cursor: Option<String>,
        delivery: &mut Delivery,
    ) -> Result<(), RuntimeError> {
        let (Some(queue), Some(cursor)) = (&self.ports().queue, &cursor) else {
            return self.reach_pages(tenant, stimulus, cursor, delivery).await;
        };
        let task = Task::StimulateOn {
            stimulus: stimulus.clone(),
            cursor: cursor.clone(),
        };
        let message = self.message(tenant, format!("event/{}/on", stimulus.id), task);
        queue.send(&message, 0).await.map_err(RuntimeError::Queue)
    }

    /// Reaches page after page from a cursor on; with a queue, one page.
    async fn reach_pages(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        mut cursor: Option<String>,
        delivery: &mut Delivery,
    ) -> Result<(), RuntimeError> {
        while cursor.is_some() {
            let page = self.page_of(tenant, stimulus, cursor).await?;
            self.reach_page(tenant, stimulus, page.bookmarks, delivery)
                .await;
            if delivery.failure.is_some() {
                return Ok(());
            }
            cursor = page.cursor;
            if self.ports().queue.is_some() && cursor.is_some() {
                return Box::pin(self.hand_on(tenant, stimulus, cursor, delivery)).await;
            }
        }
        Ok(())
    }

    /// Reaches the instances of a page, each once however many of its bookmarks wait.
    async fn reach_page(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        rows: Vec<BookmarkRow>,
        delivery: &mut Delivery,
    ) {
        let mut instances = BTreeSet::new();
        let firsts = rows
            .into_iter()
            .filter(|row| stimulus.is_for(row) && instances.insert(row.instance_id.clone()));
        let firsts: Vec<_> = firsts.collect();
        let most = self.config().deliveries_parallel_max;
        let reach = |row| Box::pin(self.reach_bookmark(tenant, stimulus, row)) as BoxFuture<'_, _>;
        for reached in beside(&firsts, most, reach).await {
            delivery.note(reached);
        }
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
        self.reached(tenant, stimulus.waking_at(row), Some(row))
            .await
    }

    async fn reached(
        &self,
        tenant: &Tenant,
        request: WakeRequest,
        row: Option<&BookmarkRow>,
    ) -> Reached {
        let advanced = match self.advance(tenant, request).await {
            Ok(Advanced::Outcome(outcome)) => outcome,
            Ok(Advanced::StimulusTaken | Advanced::CannotMigrate(_) | Advanced::NotAllowed(_)) => {
                return Reached::Nobody;
            }
            Err(error) => return Reached::Failed(error),
        };
        match advanced {
            ResumeOutcome::Resumed(report) => Reached::Resumed(report.instance.id.to_string()),
            ResumeOutcome::Seen(head) => Reached::Resumed(head.instance_id),
            // One that opens soon looks for what is queued when it does.
            ResumeOutcome::NotYet => Reached::Nobody,
            ResumeOutcome::BookmarkGone(_)
            | ResumeOutcome::Ended(_)
            | ResumeOutcome::Deleted
            | ResumeOutcome::NotFound => {
                let Some(row) = row else {
                    return Reached::Nobody;
                };
                // A row that leads nowhere was left by a lost commit or an interrupted clean-up.
                match self.store().forget_bookmark(tenant, row).await {
                    Ok(()) => Reached::Nobody,
                    Err(error) => Reached::Failed(error.into()),
                }
            }
        }
    }
}

impl Delivery {
    fn note(&mut self, reached: Reached) {
        match reached {
            Reached::Started(id) => self.outcome.started(id),
            Reached::Resumed(id) => self.outcome.resumed(id),
            Reached::Stale => self.is_stale = true,
            Reached::Nobody => {}
            Reached::Failed(error) => self.failure = Some(error),
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

    /// Request to wake whatever of an instance waits for it.
    pub(crate) fn waking(&self, instance_id: &str) -> WakeRequest {
        let matching = Matching {
            hash: self.hash.clone(),
            bookmark_id: self.bookmark_id.clone(),
            correlation_id: self.correlation_id.clone(),
            activity_instance_id: self.activity_instance_id.clone(),
            input: self.input.clone(),
            stamp: None,
            is_first_only: false,
        };
        WakeRequest {
            event_id: Some(self.id.clone()),
            ..WakeRequest::to(instance_id, Target::Matching(Box::new(matching)))
        }
    }

    /// The same for an instance that was found by a row.
    fn waking_at(&self, row: &BookmarkRow) -> WakeRequest {
        let mut request = self.waking(&row.instance_id);
        if let Target::Matching(matching) = &mut request.target {
            matching.stamp = Some(row.stamp);
        }
        request
    }
}
