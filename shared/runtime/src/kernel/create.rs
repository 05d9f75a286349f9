//! The first burst of an instance, and the commit that creates it with the burst's result.

use dormouse_engine::definition::declaration::Activation;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::{Instance, Start};
use dormouse_engine::step::{Stimulus, Transition};
use dormouse_store::Tenant;
use dormouse_store::instance::commit::Committed;
use dormouse_store::instance::create::NewInstance;
use dormouse_store::instance::predecessor::Predecessor;
use dormouse_store::instance::uniqueness::Claim;

use crate::derived_id::derived_id;
use crate::error::RuntimeError;
use crate::graph::cache::Runnable;
use crate::kernel::Kernel;
use crate::kernel::burst::{Burst, Cause, is_too_large, too_large};
use crate::runtime::Runtime;
use crate::work::definition_handle::DefinitionHandle;
use crate::work::start::{Begun, StartOutcome, StartRequest};

/// How often a first commit is tried: an id that we drew may be taken, one that was given may be fenced.
const ATTEMPTS_MAX: u32 = 5;

/// What else a start does in its first commit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beginning {
    /// The trigger whose instances must not run beside each other.
    pub(crate) alone: Option<Claim>,
    pub(crate) cause: Cause,
}

/// A new instance after its first step.
pub(crate) struct First<'a> {
    burst: Burst<'a>,
    /// As it was before the step.
    start: Start,
    transition: Transition,
    claims: Vec<Claim>,
    cause: Cause,
    predecessor: Predecessor,
    /// Whether we drew the id ourselves.
    is_drawn: bool,
    /// Another instance that runs does not keep it from starting.
    ignores_activation: bool,
}

impl<'a> First<'a> {
    /// Makes an instance and runs its first step.
    pub(crate) async fn step(
        runtime: &'a Runtime,
        tenant: &'a Tenant,
        runnable: Runnable,
        request: &StartRequest,
        beginning: &Beginning,
    ) -> Result<Self, RuntimeError> {
        let start = Start {
            input: request.input.clone(),
            correlation_id: request.correlation_id.clone().filter(|id| !id.is_empty()),
            name: request.name.clone(),
            trigger_activity_id: request.trigger_activity_id.clone(),
            properties: request.properties.clone(),
            parent: request.parent.clone(),
        };
        let (id, is_drawn) = instance_id(runtime, tenant, request);
        let mut claims = Vec::new();
        claims.extend(beginning.alone.clone());
        claims.extend(claim(&runnable, start.correlation_id.as_deref()));
        let burst = Burst::new(runtime, tenant, runnable, request.has_http_request, 0);
        let again = id.clone();
        let instance = burst.fresh(id, start.clone());
        let transition = match burst.step(instance, Stimulus::Start).await {
            Ok(transition) => transition,
            Err(error) => {
                let failure = error.of_a_step()?;
                burst
                    .stepper()
                    .step(burst.fresh(again, start.clone()), failure)
            }
        };
        Ok(Self {
            transition,
            burst,
            start,
            claims,
            cause: beginning.cause.clone(),
            predecessor: Predecessor::default(),
            is_drawn,
            ignores_activation: request.ignores_activation,
        })
    }

    /// Prepares the first commit and makes it.
    async fn commit(&mut self, owner: &str) -> Result<Committed, RuntimeError> {
        let burst = &mut self.burst;
        let new = NewInstance {
            instance_id: self.transition.instance.id.as_str(),
            owner,
            claims: &self.claims,
            predecessor: self.predecessor,
        };
        let blank = burst
            .runtime
            .store()
            .instances()
            .blank(burst.tenant, &new)?;
        burst.loaded = Some(Box::new(blank));
        let composed = burst.compose(&self.transition, &self.cause)?;
        let (committed, composed) = burst.write(composed).await?;
        if let Committed::Done(keys) = &committed {
            burst
                .after_commit(&self.transition, composed, keys.clone())
                .await;
        }
        Ok(committed)
    }

    async fn draw_again(&mut self) -> Result<(), RuntimeError> {
        let id = self.burst.runtime.new_id().into();
        let instance = self.burst.fresh(id, self.start.clone());
        self.transition = self.burst.step(instance, Stimulus::Start).await?;
        Ok(())
    }

    /// Makes a failure of an instance that cannot be stored.
    fn fail(&mut self, failure: Stimulus) {
        let id = self.transition.instance.id.clone();
        // Its input may be what is too large.
        let start = Start {
            input: serde_json::Map::new(),
            properties: serde_json::Map::new(),
            ..self.start.clone()
        };
        let instance = self.burst.fresh(id, start);
        self.transition = self.burst.stepper().step(instance, failure);
    }
}

impl Burst<'_> {
    fn fresh(&self, id: InstanceId, start: Start) -> Instance {
        let seed = self.runtime.ports().clock.random();
        Instance::new(&self.runnable.graph, id, start, self.runtime.now(), seed)
    }
}

/// The id that an instance is to have, and whether it was drawn.
pub(crate) fn instance_id(
    runtime: &Runtime,
    tenant: &Tenant,
    request: &StartRequest,
) -> (InstanceId, bool) {
    match (&request.instance_id, &request.idempotency_key) {
        (Some(id), _) if !id.is_empty() => (id.as_str().into(), false),
        (_, Some(key)) => {
            let definition = match &request.definition {
                DefinitionHandle::Definition { id, .. } | DefinitionHandle::Version { id } => id,
            };
            let id = derived_id("start", &[tenant.as_str(), definition, key]);
            (id.into(), false)
        }
        (_, None) => (runtime.new_id().into(), true),
    }
}

/// What the activation strategy asks for.
pub(crate) fn claim(runnable: &Runnable, correlation_id: Option<&str>) -> Option<Claim> {
    let definition = runnable.graph.definition_id.clone();
    let correlation = correlation_id.map(str::to_owned);
    match runnable.definition.options.activation {
        Activation::Always => None,
        Activation::Singleton => Some(Claim::Definition(definition)),
        Activation::Correlation => correlation.map(Claim::Correlation),
        // Without a correlation id the filter on it is left out, as in Elsa.
        Activation::CorrelatedSingleton => Some(match correlation {
            Some(correlation) => Claim::DefinitionAndCorrelation(definition, correlation),
            None => Claim::Definition(definition),
        }),
    }
}

impl Kernel<'_> {
    /// Creates the instance with its first commit, and goes on.
    pub(crate) async fn create(self, mut first: First<'_>) -> Result<Begun, RuntimeError> {
        let owner = self.owner();
        let id = first.transition.instance.id.clone();
        first.transition = match first.burst.settle_questions(first.transition).await {
            Ok(transition) => transition,
            Err(error) => {
                let failure = error.of_a_step()?;
                let instance = first.burst.fresh(id, first.start.clone());
                first.burst.stepper().step(instance, failure)
            }
        };
        let mut has_failed = false;
        for _ in 0..ATTEMPTS_MAX {
            match first.commit(&owner).await {
                Ok(Committed::Done(_)) => {
                    let First {
                        burst, transition, ..
                    } = first;
                    let (report, later) = Box::pin(burst.run_on(transition)).await?;
                    for work in later {
                        work.await;
                    }
                    return Ok(Begun::Outcome(StartOutcome::Started(Box::new(report))));
                }
                Ok(Committed::Lost(Some(_)) | Committed::Deleted) if first.is_drawn => {
                    first.draw_again().await?;
                }
                Ok(Committed::Fenced(predecessor)) => first.predecessor = predecessor,
                // It is counted where it can be, and runs beside the other one where not.
                Ok(Committed::NotUnique { claim, .. })
                    if first.ignores_activation && !matches!(claim, Claim::Trigger(..)) =>
                {
                    first.claims.retain(|c| matches!(c, Claim::Trigger(..)));
                }
                // Something lies under the id again, or nothing does any more: read it.
                Ok(Committed::Lost(None)) => first.predecessor = Predecessor::default(),
                Ok(refused) => return Ok(begun(&first, refused)),
                Err(RuntimeError::Store(error)) if is_too_large(&error) && !has_failed => {
                    has_failed = true;
                    first.fail(too_large(&error));
                }
                Err(error) => return Err(error),
            }
        }
        Err(RuntimeError::LeaseLost {
            instance_id: first.transition.instance.id.to_string(),
        })
    }
}

/// What it means that nothing was created.
fn begun(first: &First<'_>, refused: Committed) -> Begun {
    let instance_id = first.transition.instance.id.to_string();
    Begun::Outcome(match refused {
        Committed::Lost(Some(head)) => StartOutcome::AlreadyStarted(head),
        Committed::NotUnique {
            claim: Claim::Trigger(..),
            holder,
        } => return Begun::TriggerRuns { holder },
        Committed::NotUnique { holder, .. } => StartOutcome::NotAllowed { holder },
        Committed::StimulusTaken => return Begun::StimulusTaken,
        // The caller has dealt with all of these but the deletion.
        Committed::Deleted | Committed::Done(_) | Committed::Fenced(_) | Committed::Lost(None) => {
            StartOutcome::Deleted { instance_id }
        }
    })
}
