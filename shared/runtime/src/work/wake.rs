//! Requests to wake an instance, and what comes of them.

use dormouse_engine::step::Stimulus;
use dormouse_store::stimulus::queued_stimulus::QueuePlace;
use dormouse_store::table::Write;

use crate::work::resume::ResumeOutcome;
use crate::work::target::Target;

/// Request to wake an instance.
#[derive(Debug, Clone)]
pub(crate) struct WakeRequest {
    pub(crate) instance_id: String,
    /// What is woken.
    pub(crate) target: Target,
    /// An event that the instance takes once.
    pub(crate) event_id: Option<String>,
    /// A queued stimulus that the commit takes.
    pub(crate) consumed: Option<QueuePlace>,
    /// A row that only leads here: the commit deletes it.
    pub(crate) closes: Option<Write>,
    pub(crate) has_http_request: bool,
    /// Also if the instance has ended, by failing.
    pub(crate) reopens: bool,
    /// Activities that ran since the instance last waited.
    pub(crate) activities: u64,
    /// The version of its definition that it goes over to first.
    pub(crate) migrates_to: Option<u32>,
}

impl WakeRequest {
    /// Request that concerns the whole instance.
    pub(crate) fn new(instance_id: impl Into<String>, stimulus: Stimulus) -> Self {
        Self::to(instance_id, Target::Instance(stimulus))
    }

    pub(crate) fn to(instance_id: impl Into<String>, target: Target) -> Self {
        Self {
            instance_id: instance_id.into(),
            target,
            event_id: None,
            consumed: None,
            closes: None,
            has_http_request: false,
            reopens: false,
            activities: 0,
            migrates_to: None,
        }
    }

    /// Whether it must have a commit of its own: others could be refused because of it, or it because of them.
    pub(crate) fn is_alone(&self) -> bool {
        self.consumed.is_some()
            || self.has_http_request
            || self.reopens
            || self.migrates_to.is_some()
            || matches!(self.target, Target::Instance(_))
    }
}

/// Outcome of a request.
#[derive(Debug, Clone)]
pub(crate) enum Advanced {
    Outcome(ResumeOutcome),
    /// Somebody else took the queued stimulus, or it expired. Nothing happened.
    StimulusTaken,
    /// It cannot go over to the other version, for this reason. Nothing happened.
    CannotMigrate(String),
    /// It cannot be opened again: this other instance runs. Nothing happened.
    NotAllowed(String),
}

/// The outcome of a request for which neither a queued stimulus nor another version counts.
pub(crate) fn outcome(advanced: Advanced) -> ResumeOutcome {
    match advanced {
        Advanced::Outcome(outcome) => outcome,
        // Only requests of other kinds come to these.
        Advanced::StimulusTaken | Advanced::CannotMigrate(_) | Advanced::NotAllowed(_) => {
            ResumeOutcome::BookmarkGone(Box::default())
        }
    }
}
