//! The first burst of an instance, and the write that creates it with the burst's result.

use dormouse_engine::definition::declaration::Activation;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::{Instance, Start};
use dormouse_engine::step::{Stimulus, Transition};
use dormouse_store::Tenant;
use dormouse_store::create::{Created, NewInstance};
use dormouse_store::uniqueness::Claim;

use crate::burst::{Burst, Cause, is_too_large, too_large};
use crate::cache::Runnable;
use crate::definition_handle::DefinitionHandle;
use crate::derived_id::derived_id;
use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::start::{Begun, StartOutcome, StartRequest};

/// How often an id that we drew ourselves may be taken already.
const DRAWS_MAX: u32 = 4;

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
    /// Whether we drew the id ourselves.
    is_drawn: bool,
}

impl<'a> First<'a> {
    /// Makes an instance and runs its first step.
    pub(crate) fn step(
        runtime: &'a Runtime,
        tenant: &'a Tenant,
        runnable: Runnable,
        request: &StartRequest,
        beginning: &Beginning,
    ) -> Self {
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
        if !request.ignores_activation {
            claims.extend(claim(&runnable, start.correlation_id.as_deref()));
        }
        let burst = Burst::new(runtime, tenant, runnable, request.has_http_request, 0);
        let instance = burst.fresh(id, start.clone());
        Self {
            transition: burst.step(instance, Stimulus::Start),
            burst,
            start,
            claims,
            cause: beginning.cause.clone(),
            is_drawn,
        }
    }

    fn instance_id(&self) -> &str {
        self.transition.instance.id.as_str()
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

impl Runtime {
    /// Creates the instance with its first commit, and goes on.
    pub(crate) async fn create(&self, mut first: First<'_>) -> Result<Begun, RuntimeError> {
        let owner = self.owner();
        let deadline = self
            .now()
            .plus_ms(self.within_ms(self.config().wait_ms_max));
        let (mut attempt, mut draws) = (1, 1);
        first.transition = first.burst.settle_questions(first.transition).await?;
        let mut composed = first.compose()?;
        loop {
            let new = NewInstance {
                instance_id: first.transition.instance.id.as_str(),
                owner: &owner,
                claims: &first.claims,
            };
            let tenant = first.burst.tenant;
            match self.store().create(tenant, &new, &composed.commit).await {
                Ok(Created::Done { lease, outbox }) => {
                    let First {
                        mut burst,
                        transition,
                        ..
                    } = first;
                    burst.lease = Some(lease);
                    burst.after_commit(&transition, composed, outbox).await;
                    let report = Box::pin(burst.run_on(transition)).await?;
                    return Ok(Begun::Outcome(StartOutcome::Started(Box::new(report))));
                }
                Ok(Created::Exists(_) | Created::Deleted)
                    if first.is_drawn && draws < DRAWS_MAX =>
                {
                    draws += 1;
                    first.draw_again();
                    composed = first.compose()?;
                }
                Ok(Created::Busy { until_ms }) => {
                    if self.now() >= deadline {
                        return Err(RuntimeError::InProgress {
                            instance_id: first.instance_id().to_owned(),
                            until_ms,
                        });
                    }
                    self.ports().clock.sleep(50).await;
                    // A placeholder that ran out is free for a create of a later time.
                    composed.commit.now_ms = self.now().0;
                }
                Ok(created) => return Ok(refused(&first, created)),
                Err(error) if error.is_busy() || error.is_unknown() => {
                    if !self.back_off(attempt).await {
                        return Err(error.into());
                    }
                    attempt += 1;
                }
                Err(error) if is_too_large(&error) && attempt < u32::MAX => {
                    attempt = u32::MAX;
                    first.fail(too_large(&error));
                    composed = first.compose()?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl First<'_> {
    fn compose(&mut self) -> Result<crate::burst::Composed, RuntimeError> {
        self.burst.compose(&self.transition, 1, &self.cause)
    }

    fn draw_again(&mut self) {
        let id = self.burst.runtime.new_id().into();
        let instance = self.burst.fresh(id, self.start.clone());
        self.transition = self.burst.step(instance, Stimulus::Start);
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
        self.transition = self.burst.step(instance, failure);
    }
}

/// What it means that nothing was created.
fn refused(first: &First<'_>, created: Created) -> Begun {
    let instance_id = first.instance_id().to_owned();
    Begun::Outcome(match created {
        Created::Exists(head) => StartOutcome::AlreadyStarted(head),
        Created::NotUnique {
            claim: Claim::Trigger(..),
            holder,
        } => return Begun::TriggerRuns { holder },
        Created::NotUnique { holder, .. } => StartOutcome::NotAllowed { holder },
        Created::StimulusTaken => return Begun::StimulusTaken,
        // The caller has dealt with the first and the third, and no answer is remembered here.
        Created::Done { .. } | Created::Deleted | Created::Busy { .. } | Created::Answered(_) => {
            StartOutcome::Deleted { instance_id }
        }
    })
}
