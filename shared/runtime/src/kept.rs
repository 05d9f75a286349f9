//! Stimuli that nothing waited for when they came. They are kept for a while; whoever opens a bookmark looks for
//! them after the commit, and the sender looks for bookmarks after keeping: one of the two sees the other.

use dormouse_engine::instance::Instance;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::bookmark::{BookmarkRow, FoundBy};
use dormouse_store::commit::Consumed;
use dormouse_store::queued_stimulus::QueuedStimulus;
use futures_util::future::BoxFuture;

use crate::advance::Advanced;
use crate::error::RuntimeError;
use crate::resume::ResumeOutcome;
use crate::runtime::Runtime;
use crate::stimulate::{StimulusOutcome, StimulusRequest};

/// What became of a kept stimulus at one bookmark.
enum Met {
    /// It woke the instance.
    Woke(String),
    /// The stimulus is not there any more.
    Taken,
    /// The bookmark is not open.
    NotOpen,
    /// The instance has taken it before.
    Seen,
}

impl StimulusRequest {
    /// The stimulus as it is kept.
    pub(crate) fn keep(&self, ms: i64, now: Timestamp) -> Result<QueuedStimulus, RuntimeError> {
        let payload = serde_json::to_vec(&self.input).map_err(RuntimeError::format("stimulus"))?;
        // One that was sent long ago and delivered late is kept as long as its sender wanted, from now.
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

    /// The stimulus that was kept.
    pub(crate) fn of_kept(kept: QueuedStimulus) -> Result<Self, RuntimeError> {
        let input =
            serde_json::from_slice(&kept.payload).map_err(RuntimeError::format("stimulus"))?;
        Ok(Self {
            id: kept.id,
            hash: kept.hash,
            input,
            correlation_id: kept.correlation_id,
            instance_id: kept.instance_id,
            bookmark_id: kept.bookmark_id,
            activity_instance_id: kept.activity_instance_id,
            at: Timestamp(kept.created_ms),
            kept_ms: None,
        })
    }

    fn consumed(&self) -> Consumed {
        Consumed {
            hash: self.hash.clone(),
            id: self.id.clone(),
        }
    }
}

impl Runtime {
    /// Gives a stimulus that is kept to the first bookmark that takes it.
    pub(crate) async fn deliver_kept(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
    ) -> Result<StimulusOutcome, RuntimeError> {
        let mut outcome = StimulusOutcome::default();
        if self.is_paused() {
            // The sweep gives it to whom it is for when the pause is over.
            outcome.kept = true;
            return Ok(outcome);
        }
        let mut cursor = None;
        loop {
            let page = self.store().stimuli(tenant, &stimulus.hash, cursor).await?;
            for row in page.bookmarks.iter().filter(|row| stimulus.is_for(row)) {
                match self.meet(tenant, stimulus, row).await? {
                    Met::Woke(instance_id) => {
                        outcome.resumed.push(instance_id);
                        return Ok(outcome);
                    }
                    Met::Taken => return Ok(outcome),
                    Met::NotOpen | Met::Seen => {}
                }
            }
            cursor = page.cursor;
            if cursor.is_none() {
                outcome.kept = true;
                return Ok(outcome);
            }
        }
    }

    async fn meet(
        &self,
        tenant: &Tenant,
        stimulus: &StimulusRequest,
        row: &BookmarkRow,
    ) -> Result<Met, RuntimeError> {
        let waking = stimulus.waking(row, Some(stimulus.consumed()));
        Ok(match self.advance(tenant, waking).await? {
            Advanced::StimulusTaken | Advanced::CannotMigrate(_) => Met::Taken,
            Advanced::Outcome(ResumeOutcome::Resumed(report)) => {
                Met::Woke(report.instance.id.to_string())
            }
            Advanced::Outcome(ResumeOutcome::Seen(_)) => Met::Seen,
            Advanced::Outcome(
                ResumeOutcome::BookmarkGone(_)
                | ResumeOutcome::NotYet(_)
                | ResumeOutcome::Ended(_)
                | ResumeOutcome::Deleted
                | ResumeOutcome::NotFound,
            ) => Met::NotOpen,
        })
    }

    /// Looks for stimuli that were kept for bookmarks which a burst has opened: (id, hash).
    pub(crate) fn meet_kept(
        &self,
        tenant: &Tenant,
        instance: &Instance,
        opened: Vec<(String, String)>,
    ) -> BoxFuture<'static, ()> {
        let (runtime, tenant) = (self.clone(), tenant.clone());
        let rows: Vec<_> = opened
            .into_iter()
            .filter_map(|(id, hash)| row_of(instance, id, hash))
            .collect();
        Box::pin(async move {
            for row in rows {
                // What fails here is met by the sweep.
                if let Err(cause) = runtime.meet_at(&tenant, &row).await {
                    tracing::debug!(instance = row.instance_id, cause = %cause, "kept stimuli are looked at again later");
                }
            }
        })
    }

    async fn meet_at(&self, tenant: &Tenant, row: &BookmarkRow) -> Result<(), RuntimeError> {
        let hash = &row.found_by.hash;
        let mut cursor = None;
        loop {
            let page = self.store().queued_stimuli(tenant, hash, cursor).await?;
            for kept in page.queued {
                if kept.expires_ms <= self.now().0 {
                    continue;
                }
                let stimulus = StimulusRequest::of_kept(kept)?;
                if !stimulus.is_for(row) {
                    continue;
                }
                match self.meet(tenant, &stimulus, row).await? {
                    Met::Woke(_) | Met::NotOpen => return Ok(()),
                    Met::Taken | Met::Seen => {}
                }
            }
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }
}

fn row_of(instance: &Instance, bookmark_id: String, hash: String) -> Option<BookmarkRow> {
    let bookmark = instance
        .bookmarks
        .iter()
        .find(|b| b.id.as_str() == bookmark_id)?;
    Some(BookmarkRow {
        instance_id: instance.id.to_string(),
        bookmark_id,
        commit: 0,
        found_by: FoundBy {
            hash,
            correlation_id: instance.correlation_id.clone(),
            activity_instance_id: Some(instance.context_text(bookmark.context)),
            payload: bytes::Bytes::new(),
        },
    })
}
