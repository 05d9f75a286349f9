//! Resuming an instance at a bookmark: two calls to the table, of which one is a read; a duplicate costs the read.

use dormouse_engine::step::Stimulus;
use dormouse_store::Tenant;
use dormouse_store::table::Write;

use crate::error::RuntimeError;
use crate::instances::Instances;
use crate::work::resume::{ResumeOutcome, ResumeRequest};
use crate::work::target::Target;
use crate::work::wake::{WakeRequest, outcome};

impl Instances<'_> {
    /// Resumes an instance and runs it until it waits or ends.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::InProgress`] if somebody works on it for longer than there is to wait; else
    /// [`RuntimeError`].
    pub async fn resume(
        self,
        tenant: &Tenant,
        request: ResumeRequest,
    ) -> Result<ResumeOutcome, RuntimeError> {
        self.resume_with(tenant, request, None).await
    }

    /// The same; the commit deletes a row that only leads here. Without a commit the row stays.
    pub(crate) async fn resume_closing(
        self,
        tenant: &Tenant,
        request: ResumeRequest,
        row: Write,
    ) -> Result<ResumeOutcome, RuntimeError> {
        self.resume_with(tenant, request, Some(row)).await
    }

    async fn resume_with(
        self,
        tenant: &Tenant,
        request: ResumeRequest,
        closes: Option<Write>,
    ) -> Result<ResumeOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        let stimulus = match &request.bookmark_id {
            Some(bookmark) => Stimulus::Resume {
                bookmark: bookmark.as_str().into(),
                input: request.input,
            },
            None => Stimulus::Continue,
        };
        let target = match request.bookmark_id {
            Some(id) => Target::Bookmark {
                id,
                stamp: request.stamp,
                stimulus,
            },
            None => Target::Instance(stimulus),
        };
        let request = WakeRequest {
            event_id: request.event_id,
            closes,
            has_http_request: request.has_http_request,
            ..WakeRequest::to(request.instance_id, target)
        };
        Ok(outcome(self.kernel().advance(tenant, request).await?))
    }
}
