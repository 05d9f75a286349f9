//! Requests to start an instance, and what comes of them.

use dormouse_engine::effect::ParentLink;
use dormouse_store::instance::head::InstanceHead;
use serde_json::{Map, Value};

use crate::work::definition_handle::DefinitionHandle;
use crate::work::report::BurstReport;

/// What to start.
#[derive(Debug, Clone)]
pub struct StartRequest {
    /// What it runs.
    pub definition: DefinitionHandle,
    /// The id it is to have. A start with an id that an instance has already finds that instance.
    pub instance_id: Option<String>,
    /// The client's key: a start repeated under the same key finds the instance of the first. Counts where no
    /// instance id is given.
    pub idempotency_key: Option<String>,
    /// Values for the workflow's inputs.
    pub input: Map<String, Value>,
    /// The correlation id.
    pub correlation_id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The id of the activity that was triggered.
    pub trigger_activity_id: Option<String>,
    /// Properties, such as `Flowchart:ExecutionMode`.
    pub properties: Map<String, Value>,
    /// Who wants to know of its end.
    pub parent: Option<ParentLink>,
    /// Whether the definition's activation strategy does not keep it from starting, as for children, and in Elsa for
    /// dispatches and requests to HTTP workflows. It counts for later starts.
    pub ignores_activation: bool,
    /// Whether an HTTP request waits for what the workflow answers.
    pub has_http_request: bool,
    /// The generation of the trigger that starts it. Another one than the definition's: [`StartOutcome::Stale`].
    pub trigger_generation: Option<u64>,
}

impl StartRequest {
    /// Starts the version without input.
    #[must_use]
    pub fn new(definition: DefinitionHandle) -> Self {
        Self {
            definition,
            instance_id: None,
            idempotency_key: None,
            input: Map::new(),
            correlation_id: None,
            name: None,
            trigger_activity_id: None,
            properties: Map::new(),
            parent: None,
            ignores_activation: false,
            has_http_request: false,
            trigger_generation: None,
        }
    }
}

/// What became of a start.
#[derive(Debug)]
pub enum StartOutcome {
    /// It runs, waits or has ended already.
    Started(Box<BurstReport>),
    /// An instance with that id or key was started before; this is how it stands. Nothing happened.
    AlreadyStarted(Box<InstanceHead>),
    /// An instance with that id was deleted; it does not come back.
    Deleted {
        /// The id.
        instance_id: String,
    },
    /// The activation strategy refuses: another instance runs.
    NotAllowed {
        /// The one that runs.
        holder: String,
    },
    /// There is no such definition, or no such version of it.
    NotFound,
    /// The trigger is not in force any more: the definition was published again or retracted. Look again.
    Stale,
}

/// What became of a start, in more detail.
pub(crate) enum Begun {
    Outcome(StartOutcome),
    /// An instance that the same trigger started still runs.
    TriggerRuns {
        holder: String,
    },
    /// Somebody else took the queued stimulus that it was to be the answer to.
    StimulusTaken,
}

impl Begun {
    pub(crate) fn outcome(self) -> StartOutcome {
        match self {
            Self::Outcome(outcome) => outcome,
            Self::TriggerRuns { holder } => StartOutcome::NotAllowed { holder },
            Self::StimulusTaken => StartOutcome::Stale,
        }
    }
}
