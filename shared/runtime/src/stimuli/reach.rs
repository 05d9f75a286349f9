//! Reaching the recipients of a stimulus, a page at a time.

use std::collections::BTreeMap;

use dormouse_engine::call::HttpResponse;
use dormouse_store::Tenant;
use dormouse_store::definition::trigger::TriggerRow;
use dormouse_store::stimulus::bookmark::BookmarkRow;
use futures_util::future::BoxFuture;

use crate::beside::beside;
use crate::derived_id::derived_id;
use crate::error::RuntimeError;
use crate::stimuli::Stimuli;
use crate::stimuli::receivers::Receivers;
use crate::work::definition_handle::DefinitionHandle;
use crate::work::message::Task;
use crate::work::resume::ResumeOutcome;
use crate::work::start::{StartOutcome, StartRequest};
use crate::work::stimulus::{StimulusOutcome, StimulusRequest};
use crate::work::wake::{Advanced, WakeRequest};

/// What became of the recipients that were reached so far.
#[derive(Default)]
pub(crate) struct Delivery {
    pub(crate) outcome: StimulusOutcome,
    /// A trigger was published anew meanwhile.
    pub(crate) is_stale: bool,
    /// A recipient of an earlier delivery that waits still.
    pub(crate) waits: Option<String>,
    /// A recipient that is about to open.
    pub(crate) opens: Option<String>,
    /// Recipients that could not be reached now.
    pub(crate) failure: Option<RuntimeError>,
}

/// What became of one recipient.
enum Reached {
    Started(String, Option<HttpResponse>),
    Resumed(String, Option<HttpResponse>),
    Stale,
    /// The commit of the rows by which it was found may still happen.
    Opens(String),
    Nobody,
    Failed(RuntimeError),
}

impl Stimuli<'_> {
    /// Reaches the one instance that a stimulus is for. Its head tells what waits there.
    pub(crate) async fn reach_only(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        instance_id: &str,
    ) -> Result<Delivery, RuntimeError> {
        let mut delivery = Delivery::default();
        let request = stimulus.wake_request(instance_id);
        match self.reached(tenant, request, &[]).await {
            Reached::Resumed(id, response) => {
                delivery.outcome.resumed(id);
                delivery.outcome.answered(response);
            }
            Reached::Failed(error) => delivery.failure = Some(error),
            Reached::Started(..) | Reached::Stale | Reached::Opens(_) | Reached::Nobody => {}
        }
        Ok(delivery)
    }

    /// Reaches those who are to have a stimulus.
    pub(crate) async fn reach_all(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        receivers: Receivers,
    ) -> Result<Delivery, RuntimeError> {
        let before = self.before(tenant, stimulus, &receivers.before).await?;
        let mut delivery = Delivery::default();
        before
            .seen
            .into_iter()
            .for_each(|id| delivery.outcome.resumed(id));
        let most = self.config().deliveries_parallel_max;
        if receivers.has_others {
            // Others may wait before them by now, so their rows may stand on any page.
            let reach = |of| Box::pin(self.reach_waiting(tenant, stimulus, of)) as BoxFuture<'_, _>;
            for reached in beside(&before.waiting, most, reach).await {
                delivery.note(reached);
            }
        } else {
            // Their rows are gone: somebody is handing it over right now.
            delivery.waits = before.waiting.into_keys().next();
        }
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
        self,
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
    pub(crate) async fn reach_pages(
        self,
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
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        rows: Vec<BookmarkRow>,
        delivery: &mut Delivery,
    ) {
        let mut instances: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for row in rows.into_iter().filter(|row| stimulus.is_for(row)) {
            let of = instances.entry(row.instance_id.clone()).or_default();
            of.push(row);
        }
        let most = self.config().deliveries_parallel_max;
        let reach = |of| Box::pin(self.reach_instance(tenant, stimulus, of)) as BoxFuture<'_, _>;
        for reached in beside(&instances, most, reach).await {
            delivery.note(reached);
        }
    }

    async fn reach_trigger(
        self,
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
            has_http_request: stimulus.has_http_request,
            ..StartRequest::new(DefinitionHandle::published(&row.definition_id))
        };
        match self.instances().start(tenant, request).await {
            Ok(StartOutcome::Started(report)) => {
                Reached::Started(report.instance.id.to_string(), report.response)
            }
            Ok(StartOutcome::AlreadyStarted(head)) => Reached::Started(head.instance_id, None),
            Ok(StartOutcome::Deleted { instance_id }) => Reached::Started(instance_id, None),
            Ok(StartOutcome::Stale) => Reached::Stale,
            Ok(StartOutcome::NotAllowed { .. } | StartOutcome::NotFound) => Reached::Nobody,
            Err(error) => Reached::Failed(error),
        }
    }

    async fn reach_instance(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        (instance_id, rows): (&String, &Vec<BookmarkRow>),
    ) -> Reached {
        let bookmarks = rows.iter();
        let bookmarks = bookmarks.map(|row| (row.bookmark_id.clone(), Some(row.stamp)));
        let request = stimulus.wake_request_at(instance_id, bookmarks);
        self.reached(tenant, request, rows).await
    }

    async fn reach_waiting(
        self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        (instance_id, bookmarks): (&String, &Vec<String>),
    ) -> Reached {
        let bookmarks = bookmarks.iter().map(|id| (id.clone(), None));
        let request = stimulus.wake_request_at(instance_id, bookmarks);
        self.reached(tenant, request, &[]).await
    }

    async fn reached(self, tenant: &Tenant, request: WakeRequest, rows: &[BookmarkRow]) -> Reached {
        let advanced = match self.kernel().advance(tenant, request).await {
            Ok(Advanced::Outcome(outcome)) => outcome,
            Ok(Advanced::StimulusTaken | Advanced::CannotMigrate(_) | Advanced::NotAllowed(_)) => {
                return Reached::Nobody;
            }
            Err(error) => return Reached::Failed(error),
        };
        match advanced {
            ResumeOutcome::Resumed(report) => {
                Reached::Resumed(report.instance.id.to_string(), report.response.clone())
            }
            ResumeOutcome::Seen(head) => Reached::Resumed(head.instance_id, None),
            // One that nobody has noted looks, when it opens, for what is queued.
            ResumeOutcome::NotYet => match rows.first() {
                Some(row) => Reached::Opens(row.instance_id.clone()),
                None => Reached::Nobody,
            },
            ResumeOutcome::BookmarkGone(_)
            | ResumeOutcome::Ended(_)
            | ResumeOutcome::Deleted
            | ResumeOutcome::NotFound => {
                // A row that leads nowhere was left by a lost commit or an interrupted clean-up.
                for row in rows {
                    if let Err(error) = self.store().stimuli().forget_bookmark(tenant, row).await {
                        return Reached::Failed(error.into());
                    }
                }
                Reached::Nobody
            }
        }
    }
}

impl Delivery {
    fn note(&mut self, reached: Reached) {
        match reached {
            Reached::Started(id, response) => {
                self.outcome.started(id);
                self.outcome.answered(response);
            }
            Reached::Resumed(id, response) => {
                self.outcome.resumed(id);
                self.outcome.answered(response);
            }
            Reached::Stale => self.is_stale = true,
            Reached::Opens(id) => self.opens = Some(id),
            Reached::Nobody => {}
            Reached::Failed(error) => self.failure = Some(error),
        }
    }
}
