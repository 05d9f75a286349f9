//! Stimuli that nothing waited for when they came. They are queued for a while. A burst that opens a bookmark looks at
//! the queue after its commit, and the sender looks for bookmarks after queueing: one of the two sees the other.

use std::collections::BTreeSet;

use dormouse_engine::call::HttpResponse;
use dormouse_engine::instance::Instance;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::stimulus::stimuli::Opening;
use futures_util::future::BoxFuture;

use crate::error::RuntimeError;
use crate::stimuli::Stimuli;
use crate::work::resume::ResumeOutcome;
use crate::work::stimulus::{StimulusOutcome, StimulusRequest};
use crate::work::target::Target;
use crate::work::wake::{Advanced, WakeRequest};

/// What became of a queued stimulus at one instance.
enum Met {
    /// It resumed the instance, which answered this.
    Resumed(String, Option<HttpResponse>),
    /// The stimulus is not there any more.
    Taken,
    /// Nothing there waits for it.
    NotOpen,
    /// The instance has taken it before.
    Seen,
}

impl StimulusRequest {
    /// Request to give the queued stimulus to an instance: to one bookmark of it.
    fn taking(&self, instance_id: &str) -> Result<WakeRequest, RuntimeError> {
        let place = self.queued(0, Timestamp(0))?.place();
        let mut request = self.wake_request(instance_id);
        if let Target::Matching(matching) = &mut request.target {
            matching.is_first_only = true;
        }
        request.consumed = Some(place);
        Ok(request)
    }
}

impl Stimuli<'_> {
    /// Gives a queued stimulus to the first bookmark that takes it.
    pub(crate) async fn deliver_queued(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
    ) -> Result<StimulusOutcome, RuntimeError> {
        let mut outcome = StimulusOutcome {
            queued: true,
            ..StimulusOutcome::default()
        };
        if self.pauses().is_paused() {
            // The sweep gives it to whom it is for when the pause is over.
            return Ok(outcome);
        }
        if let Some(instance) = &stimulus.instance_id {
            let met = self.meet(tenant, stimulus, instance).await?;
            outcome.met(met);
            return Ok(outcome);
        }
        let mut cursor = None;
        let mut tried = BTreeSet::new();
        loop {
            let page = self.page_of(tenant, stimulus, cursor).await?;
            for row in page.bookmarks.iter().filter(|row| stimulus.is_for(row)) {
                if !tried.insert(row.instance_id.clone()) {
                    continue;
                }
                let met = self.meet(tenant, stimulus, &row.instance_id).await?;
                outcome.met(met);
                if !outcome.queued {
                    return Ok(outcome);
                }
            }
            // The rows are in order of instances: only the last of a page comes again.
            if let Some(last) = page.bookmarks.last() {
                tried.retain(|id| *id == last.instance_id);
            }
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(outcome);
            }
        }
    }

    async fn meet(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        instance_id: &str,
    ) -> Result<Met, RuntimeError> {
        let request = stimulus.taking(instance_id)?;
        let place = request.consumed.clone();
        let met = match self.kernel().advance(tenant, request).await? {
            Advanced::StimulusTaken | Advanced::CannotMigrate(_) | Advanced::NotAllowed(_) => {
                Met::Taken
            }
            Advanced::Outcome(ResumeOutcome::Resumed(report)) => {
                Met::Resumed(report.instance.id.to_string(), report.response.clone())
            }
            Advanced::Outcome(ResumeOutcome::Seen(_)) => Met::Seen,
            Advanced::Outcome(
                ResumeOutcome::BookmarkGone(_)
                | ResumeOutcome::NotYet
                | ResumeOutcome::Ended(_)
                | ResumeOutcome::Deleted
                | ResumeOutcome::NotFound,
            ) => Met::NotOpen,
        };
        // The only instance that it is for has had it by another delivery.
        if let (Met::Seen, Some(_), Some(place)) = (&met, &stimulus.instance_id, place) {
            self.store()
                .stimuli()
                .take_queued(tenant, &place, self.now().0)
                .await?;
            return Ok(Met::Taken);
        }
        Ok(met)
    }

    /// Looks for stimuli that were queued for bookmarks which a burst has opened: (id, hash).
    pub(crate) fn meet_queued(
        self,
        tenant: &Tenant,
        instance: &Instance,
        opened: Vec<(String, String)>,
    ) -> BoxFuture<'static, ()> {
        let (runtime, tenant) = (self.0.clone(), tenant.clone());
        let opened: Vec<_> = opened
            .into_iter()
            .filter_map(|(id, hash)| Opened::of(instance, id, hash))
            .collect();
        Box::pin(async move {
            for bookmark in opened {
                // What fails here is met by the sweep.
                if let Err(cause) = runtime.stimuli().meet_at(&tenant, &bookmark).await {
                    tracing::debug!(instance = bookmark.instance_id, cause = %cause, "queued stimuli are looked at again later");
                }
            }
        })
    }

    /// Gives the first queued stimulus that fits to a bookmark.
    async fn meet_at(self, tenant: &Tenant, opened: &Opened) -> Result<(), RuntimeError> {
        let mut besides = Vec::new();
        loop {
            let now = self.now().0;
            let queued = self
                .store()
                .stimuli()
                .first_queued(tenant, &opened.opening(), &besides, now)
                .await?;
            let Some(queued) = queued else {
                return Ok(());
            };
            let stimulus = StimulusRequest::of_queued(queued)?;
            match self.meet(tenant, &stimulus, &opened.instance_id).await? {
                Met::Resumed(..) | Met::NotOpen => return Ok(()),
                Met::Taken | Met::Seen => besides.push(stimulus.id),
            }
        }
    }
}

impl StimulusOutcome {
    /// Notes what became of a queued stimulus at one instance.
    fn met(&mut self, met: Met) {
        match met {
            Met::Resumed(id, response) => {
                self.resumed(id);
                self.answered(response);
                self.queued = false;
            }
            Met::Taken => self.queued = false,
            Met::NotOpen | Met::Seen => {}
        }
    }
}

/// A bookmark that a burst has opened.
struct Opened {
    instance_id: String,
    bookmark_id: String,
    hash: String,
    correlation_id: Option<String>,
    activity_instance_id: String,
}

impl Opened {
    fn of(instance: &Instance, bookmark_id: String, hash: String) -> Option<Self> {
        let bookmark = instance.bookmark(&bookmark_id.as_str().into())?;
        Some(Self {
            instance_id: instance.id.to_string(),
            hash,
            correlation_id: instance.correlation_id.clone(),
            activity_instance_id: instance.context_text(bookmark.context),
            bookmark_id,
        })
    }

    fn opening(&self) -> Opening<'_> {
        Opening {
            hash: &self.hash,
            instance_id: &self.instance_id,
            bookmark_id: &self.bookmark_id,
            correlation_id: self.correlation_id.as_deref(),
            activity_instance_id: Some(&self.activity_instance_id),
        }
    }
}
