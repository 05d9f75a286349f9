//! What is due at a time: a bookmark, or an occurrence of a recurring trigger.

use dormouse_engine::graph::Recurrence;
use dormouse_engine::id::{BookmarkId, InstanceId};
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::instance::stamp::Stamp;
use serde::{Deserialize, Serialize};

use crate::work::tenant_serde;

/// Something that is due at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timer {
    /// Whose it is.
    #[serde(with = "tenant_serde")]
    pub tenant: Tenant,
    /// When it is due.
    pub due: Timestamp,
    /// What is due.
    pub wakes: Wakes,
}

/// What a timer wakes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Wakes {
    /// A bookmark of an instance.
    Bookmark {
        /// The instance.
        instance: InstanceId,
        /// The bookmark.
        bookmark: BookmarkId,
        /// The commit that opened it. `None`: it is not known, and the bookmark's id alone counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stamp: Option<Stamp>,
    },
    /// An occurrence of a recurring trigger.
    Occurrence(Occurrence),
}

/// One nominal firing of a recurring trigger. Its identity is all of it but the recurrence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Occurrence {
    /// The definition.
    pub definition_id: String,
    /// The generation of its triggers. Another one than the head's: it was published again or retracted.
    pub generation: u64,
    /// The trigger's activity.
    pub activity_id: String,
    /// The time it is about. The next one is computed from it, not from when it fired.
    pub nominal: Timestamp,
    /// When the next ones are.
    pub recurrence: Recurrence,
    /// What happens while an earlier one's instance still runs.
    pub overlap: Overlap,
}

/// What happens to an occurrence while the instance of an earlier one still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Overlap {
    /// It starts all the same, as in Elsa.
    #[default]
    Allow,
    /// It is left out.
    Skip,
    /// It starts when the running one ends; one at most waits.
    BufferOne,
    /// The running one is cancelled.
    CancelPrevious,
}

impl Overlap {
    /// The policy of a name as `customProperties.overlapPolicy` has it; unknown names allow.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "skip" => Self::Skip,
            "bufferone" => Self::BufferOne,
            "cancelprevious" => Self::CancelPrevious,
            _ => Self::Allow,
        }
    }
}

impl Timer {
    /// Its id, unique within the tenant, the same for the same thing that is due.
    #[must_use]
    pub fn id(&self) -> String {
        match &self.wakes {
            Wakes::Bookmark {
                instance,
                bookmark,
                stamp,
            } => {
                let attempt = stamp.map_or(0, |stamp| stamp.attempt);
                format!("{instance}/{bookmark}/{attempt:x}")
            }
            Wakes::Occurrence(o) => format!(
                "{}/{}/{}/{}",
                o.definition_id, o.activity_id, o.generation, o.nominal.0
            ),
        }
    }
}
