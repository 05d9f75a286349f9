//! What an instance is doing, or how it ended.

use serde::{Deserialize, Serialize};

/// Whether an instance can still do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It can.
    Running,
    /// It has ended, and stays so for ever.
    Finished,
}

/// What an instance is doing, or how it ended. Elsa's sub-statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SubStatus {
    /// Created, and not run yet.
    Pending,
    /// In a burst.
    Executing,
    /// Waiting.
    Suspended,
    /// Ended as meant.
    Finished,
    /// Ended by a failure.
    Faulted,
    /// Ended by somebody.
    Cancelled,
    /// Cut off by a drain; goes on by itself.
    Interrupted,
}

impl Status {
    /// Elsa's name of it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Finished => "Finished",
        }
    }
}

impl SubStatus {
    /// Every sub-status.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Executing,
        Self::Suspended,
        Self::Finished,
        Self::Faulted,
        Self::Cancelled,
        Self::Interrupted,
    ];

    /// The status that goes with it.
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            Self::Pending | Self::Executing | Self::Suspended | Self::Interrupted => {
                Status::Running
            }
            Self::Finished | Self::Faulted | Self::Cancelled => Status::Finished,
        }
    }

    /// Elsa's name of it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Executing => "Executing",
            Self::Suspended => "Suspended",
            Self::Finished => "Finished",
            Self::Faulted => "Faulted",
            Self::Cancelled => "Cancelled",
            Self::Interrupted => "Interrupted",
        }
    }
}
