//! What can go wrong in a use case. What is expected, such as a duplicate or a lost race, is a value of the
//! outcome; what a workflow does wrong is an incident of its instance.

use std::sync::Arc;

use dormouse_engine::definition::DefinitionError;
use dormouse_engine::instance::DecodeError;
use dormouse_store::StoreError;

/// Why a port could not do its work. Nothing is known of what it did; the call may be repeated.
pub type PortError = Box<dyn std::error::Error + Send + Sync>;

/// The queue is full. Nothing was done; try again later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too much work is queued; try again later")]
pub struct Saturated;

/// Reason why work has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ComputeError {
    /// The queue is full. Nothing was done.
    #[error(transparent)]
    Saturated(#[from] Saturated),
    /// The work panicked, or the process stops. It may have been done in part.
    #[error("the work ended without a result")]
    Lost,
}

/// Why a use case was not done.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// Somebody else works on the instance, and did not end in the time there is to wait. Nothing happened.
    #[error("the instance `{instance_id}` is in progress; try again in a moment")]
    InProgress {
        /// The instance.
        instance_id: String,
        /// Until when its lease is, in ms since 1970.
        until_ms: i64,
    },
    /// The lease was lost before the work was committed: nothing of it counts. Somebody else carries on.
    #[error("the instance `{instance_id}` was taken over while this was being worked on")]
    LeaseLost {
        /// The instance.
        instance_id: String,
    },
    /// Others changed the definition again and again. Nothing happened.
    #[error("the definition `{definition_id}` is being changed by somebody else; try again")]
    DefinitionContended {
        /// The definition.
        definition_id: String,
    },
    /// There is a pause, and this would have started or woken an instance. Nothing happened.
    #[error("the runtime is paused")]
    Paused {
        /// Since when, in ms since 1970.
        since_ms: i64,
    },
    /// The same error was told to everybody whose request was part of the burst.
    #[error(transparent)]
    Shared(#[from] Arc<RuntimeError>),
    /// The store did not do it; see [`StoreError`] for what may be tried again.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored instance could not be read.
    #[error("the instance `{instance_id}` cannot be read: {source}")]
    Instance {
        /// The instance.
        instance_id: String,
        /// What is wrong.
        #[source]
        source: DecodeError,
    },
    /// A stored definition could not be read.
    #[error("version {version} of the definition `{definition_id}` cannot be read: {source}")]
    StoredDefinition {
        /// The definition.
        definition_id: String,
        /// The version.
        version: u32,
        /// What is wrong.
        #[source]
        source: DefinitionError,
    },
    /// A stored activity type could not be read.
    #[error("version {version} of an activity type cannot be read: {problem}")]
    StoredType {
        /// The version.
        version: u32,
        /// What is wrong.
        problem: String,
    },
    /// A version that an instance is pinned to is gone.
    #[error("version {version} of the definition `{definition_id}` is needed and not there")]
    VersionMissing {
        /// The definition.
        definition_id: String,
        /// The version.
        version: u32,
    },
    /// What this crate stores beside an instance or in a message could not be read or written.
    #[error("a stored {what} cannot be read or written")]
    Format {
        /// What.
        what: &'static str,
        /// What the codec said.
        #[source]
        source: serde_json::Error,
    },
    /// The scripts of one step took too long. Nothing of the step counts.
    #[error(
        "the scripts between two activities that wait took longer than {ms} ms; let them do less, or put a wait between them"
    )]
    StepTooLong {
        /// The limit.
        ms: u64,
    },
    /// Scripts could not run. Nothing happened.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// The scheduler failed. The timer stays in the outbox.
    #[error("the scheduler failed")]
    Scheduler(#[source] PortError),
    /// The values of secrets could not be sealed, opened or read.
    #[error("the values of secrets could not be read or sealed")]
    Vault(#[source] PortError),
    /// The queue failed. The message stays in the outbox.
    #[error("the queue failed")]
    Queue(#[source] PortError),
    /// The bus failed. The request stays in the outbox.
    #[error("the bus failed")]
    Bus(#[source] PortError),
}

impl RuntimeError {
    /// Whether nothing happened and the same call may succeed after a pause.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        match self {
            Self::InProgress { .. }
            | Self::LeaseLost { .. }
            | Self::DefinitionContended { .. }
            | Self::Paused { .. }
            | Self::Compute(_) => true,
            Self::Shared(error) => error.is_busy(),
            Self::Store(error) => error.is_busy(),
            Self::Instance { .. }
            | Self::StoredDefinition { .. }
            | Self::StoredType { .. }
            | Self::VersionMissing { .. }
            | Self::Format { .. }
            | Self::StepTooLong { .. }
            | Self::Scheduler(_)
            | Self::Vault(_)
            | Self::Queue(_)
            | Self::Bus(_) => false,
        }
    }

    /// Whether the table takes or gives nothing at all right now. What was asked is not to blame.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self.itself(), Self::Store(error) if error.is_outage())
    }

    /// The error itself, where it was told to several.
    #[must_use]
    pub fn itself(&self) -> &Self {
        let mut error = self;
        while let Self::Shared(inner) = error {
            error = inner;
        }
        error
    }

    /// Whether others were at work on the instance or the definition, so that nothing happened.
    #[must_use]
    pub fn is_contended(&self) -> bool {
        matches!(
            self.itself(),
            Self::InProgress { .. }
                | Self::LeaseLost { .. }
                | Self::DefinitionContended { .. }
                | Self::Compute(_)
        )
    }

    /// Whether there is a pause.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        matches!(self.itself(), Self::Paused { .. })
    }

    pub(crate) fn format(what: &'static str) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Self::Format { what, source }
    }
}
