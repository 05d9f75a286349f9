//! Requests to resume an instance, and what comes of them.

use std::sync::Arc;

use dormouse_store::instance::head::InstanceHead;
use dormouse_store::instance::stamp::Stamp;
use serde_json::{Map, Value};

use crate::work::delivered::Delivered;
use crate::work::report::BurstReport;

/// What to resume.
#[derive(Debug, Clone)]
pub struct ResumeRequest {
    /// The instance.
    pub instance_id: String,
    /// The bookmark. `None`: whatever an interrupted burst left to do.
    pub bookmark_id: Option<String>,
    /// The commit that opened the bookmark, where a row of it was found. The bookmark of another attempt under the same id
    /// is another one.
    pub stamp: Option<Stamp>,
    /// What the activity receives, by name.
    pub input: Map<String, Value>,
    /// Whether an HTTP request waits for what the workflow answers.
    pub has_http_request: bool,
    /// The event that this is the delivery of: an instance takes each one once.
    pub event_id: Option<String>,
}

impl ResumeRequest {
    /// Resumes a bookmark.
    #[must_use]
    pub fn bookmark(
        instance_id: impl Into<String>,
        bookmark_id: impl Into<String>,
        input: Map<String, Value>,
    ) -> Self {
        Self {
            bookmark_id: Some(bookmark_id.into()),
            input,
            ..Self::instance(instance_id)
        }
    }

    /// Goes on with whatever an interrupted burst left to do.
    #[must_use]
    pub fn instance(instance_id: impl Into<String>) -> Self {
        Self {
            instance_id: instance_id.into(),
            bookmark_id: None,
            stamp: None,
            input: Map::new(),
            has_http_request: false,
            event_id: None,
        }
    }
}

/// What became of a resume.
#[derive(Debug, Clone)]
pub enum ResumeOutcome {
    /// It went on, and waits or has ended now.
    Resumed(Arc<BurstReport>),
    /// Somebody resumed it before, or there never was such a bookmark: it is not open. Or there was nothing to go
    /// on with. Nothing happened.
    BookmarkGone(Box<InstanceHead>),
    /// The instance has taken this event before. Nothing happened.
    Seen(Box<InstanceHead>),
    /// The bookmark is not open yet: the commit that opens it is not visible. Try again later, do not drop it.
    NotYet,
    /// The instance has ended.
    Ended(Box<InstanceHead>),
    /// The instance was deleted.
    Deleted,
    /// There is no such instance.
    NotFound,
}

impl ResumeOutcome {
    /// What the message that resumed comes to.
    pub(crate) fn settled(&self) -> Delivered {
        match self {
            Self::NotYet => Delivered::Later,
            Self::Resumed(_)
            | Self::BookmarkGone(_)
            | Self::Seen(_)
            | Self::Ended(_)
            | Self::Deleted
            | Self::NotFound => Delivered::Done,
        }
    }
}
