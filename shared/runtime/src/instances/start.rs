//! Starting an instance: one write and one small read.

use dormouse_engine::effect::ParentLink;
use dormouse_store::Tenant;
use dormouse_store::instance::head::InstanceHead;
use futures_util::future::join;
use serde_json::{Map, Value};

use crate::instances::Instances;
use crate::kernel::create::{Beginning, First};
use crate::runtime::error::RuntimeError;
use crate::work::definition_handle::{DefinitionHandle, VersionOptions};
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
    /// Whether the definition's activation strategy does not count, as for children.
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
    /// Somebody else took the kept stimulus that it was to be the answer to.
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

impl Instances<'_> {
    /// Starts an instance and runs it until it waits or ends.
    ///
    /// One write and one consistent read of the definition's head: the burst runs on the cached version while the
    /// head is read, and only what the version in force produced is committed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. After one that is unknown, the same call with the same instance id or key settles it.
    pub async fn start(
        self,
        tenant: &Tenant,
        request: StartRequest,
    ) -> Result<StartOutcome, RuntimeError> {
        self.pauses().refuse_while_paused()?;
        Ok(self
            .begin(tenant, request, Beginning::default())
            .await?
            .outcome())
    }

    pub(crate) async fn begin(
        self,
        tenant: &Tenant,
        request: StartRequest,
        beginning: Beginning,
    ) -> Result<Begun, RuntimeError> {
        match self.locate(tenant, &request.definition).await? {
            Located::NotFound => Ok(Begun::Outcome(StartOutcome::NotFound)),
            Located::InForce(definition_id) => {
                self.begin_in_force(tenant, &definition_id, &request, &beginning)
                    .await
            }
            Located::Version(definition_id, version) => {
                self.begin_version(tenant, (&definition_id, version), &request, &beginning)
                    .await
            }
        }
    }

    /// Starts the published version.
    async fn begin_in_force(
        self,
        tenant: &Tenant,
        definition_id: &str,
        request: &StartRequest,
        beginning: &Beginning,
    ) -> Result<Begun, RuntimeError> {
        let known = self.cache().published(tenant, definition_id);
        let known = known.filter(|known| {
            known
                .incomplete_until
                .is_none_or(|until| self.now() < until)
        });
        let read = self
            .store()
            .definitions()
            .definition_head(tenant, definition_id);
        // The first step runs while the head is on its way. What it made is dropped if the head says otherwise.
        let first = async {
            match &known {
                Some(known) => {
                    let runnable = known.runnable.clone();
                    let first = First::step(&self, tenant, runnable, request, beginning);
                    Some(first.await)
                }
                None => None,
            }
        };
        let (head, first) = join(read, first).await;
        let Some(head) = head? else {
            self.cache().forget(tenant, definition_id);
            return Ok(Begun::Outcome(StartOutcome::NotFound));
        };
        if let Some(generation) = request.trigger_generation
            && (generation != head.generation || head.published.is_none())
        {
            return Ok(Begun::Outcome(StartOutcome::Stale));
        }
        let is_current = known.is_some_and(|known| {
            known.head.generation == head.generation && known.head.published == head.published
        });
        let first = match first {
            Some(first) if is_current => first?,
            _ => match self.graphs().load_published(tenant, head).await? {
                None => return Ok(Begun::Outcome(StartOutcome::NotFound)),
                Some(loaded) => {
                    let runnable = loaded.runnable.clone();
                    First::step(&self, tenant, runnable, request, beginning).await?
                }
            },
        };
        self.kernel().create(first).await
    }

    /// Starts a version by its number, published or not.
    async fn begin_version(
        self,
        tenant: &Tenant,
        (definition_id, version): (&str, u32),
        request: &StartRequest,
        beginning: &Beginning,
    ) -> Result<Begun, RuntimeError> {
        let found = self
            .graphs()
            .load_version(tenant, definition_id, version)
            .await?;
        let Some(runnable) = found else {
            return Ok(Begun::Outcome(StartOutcome::NotFound));
        };
        let first = First::step(&self, tenant, runnable, request, beginning);
        self.kernel().create(first.await?).await
    }

    /// Which version a handle means.
    pub(crate) async fn locate(
        self,
        tenant: &Tenant,
        handle: &DefinitionHandle,
    ) -> Result<Located, RuntimeError> {
        let (definition_id, wanted) = match handle {
            DefinitionHandle::Definition { id, version } => {
                if *version == VersionOptions::Published {
                    return Ok(Located::InForce(id.clone()));
                }
                (id.clone(), *version)
            }
            DefinitionHandle::Version { id } => {
                match self.store().definitions().find_version(tenant, id).await? {
                    Some((definition_id, n)) => (definition_id, VersionOptions::Number(n)),
                    None => return Ok(Located::NotFound),
                }
            }
        };
        let Some(head) = self
            .store()
            .definitions()
            .definition_head(tenant, &definition_id)
            .await?
        else {
            return Ok(Located::NotFound);
        };
        Ok(match wanted.pick(&head) {
            None => Located::NotFound,
            Some(n)
                if head
                    .published
                    .as_ref()
                    .is_some_and(|info| info.version == n) =>
            {
                Located::InForce(definition_id)
            }
            Some(n) => Located::Version(definition_id, n),
        })
    }
}

/// Where a start's definition is.
pub(crate) enum Located {
    /// The published version.
    InForce(String),
    /// Another one.
    Version(String, u32),
    NotFound,
}
