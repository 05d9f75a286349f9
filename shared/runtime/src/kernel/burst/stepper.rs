//! Steps of a burst: the part that computes and waits for nobody. Steps that run scripts do not run on the threads that
//! serve requests, and take turns with those of other tenants and definitions.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use dormouse_engine::instance::Instance;
use dormouse_engine::step::{
    Environment, EventLinks, SecretReferences, Settings, Stimulus, Transition, step,
};
use dormouse_store::Tenant;
use futures_util::future::{Either, select};

use super::Burst;
use crate::error::RuntimeError;
use crate::graph::cache::Runnable;
use crate::port::{Compute, Share, compute};
use crate::runtime::Runtime;

/// What runs the steps of a burst, apart from the burst.
#[derive(Clone)]
pub(crate) struct Stepper {
    runtime: Runtime,
    tenant: Tenant,
    runnable: Runnable,
    has_http_request: bool,
    activities: u64,
}

impl Stepper {
    /// Runs the engine once.
    pub(crate) fn step(&self, instance: Instance, stimulus: Stimulus) -> Transition {
        self.step_after(0, instance, stimulus)
    }

    /// Runs the engine once more, after steps that ran so many activities and are not committed yet.
    pub(crate) fn step_after(
        &self,
        activities: u64,
        instance: Instance,
        stimulus: Stimulus,
    ) -> Transition {
        let links = self.runtime.event_links(&self.tenant);
        let settings = self.runtime.settings_of(&self.tenant);
        let secrets = self.runtime.secret_references(&self.tenant);
        let environment = Environment {
            event_links: links.as_ref().map(|links| links as &dyn EventLinks),
            settings: settings.as_ref().map(|s| s as &dyn Settings),
            secrets: secrets.as_ref().map(|s| s as &dyn SecretReferences),
            has_http_request: self.has_http_request,
            activities_before: self.activities + activities,
            ..self.runtime.environment()
        };
        step(&self.runnable.graph, instance, stimulus, &environment)
    }
}

impl Burst<'_> {
    /// What runs the steps of this burst as it stands.
    pub(crate) fn stepper(&self) -> Stepper {
        Stepper {
            runtime: self.runtime.clone(),
            tenant: self.tenant.clone(),
            runnable: self.runnable.clone(),
            has_http_request: self.has_http_request && self.response.is_none(),
            activities: self.activities,
        }
    }

    /// Runs the engine once.
    pub(crate) async fn step(
        &self,
        instance: Instance,
        stimulus: Stimulus,
    ) -> Result<Transition, RuntimeError> {
        self.compute(|stepper| stepper.step(instance, stimulus))
            .await
    }

    /// Runs the engine once more, after steps that ran so many activities and are not committed yet.
    pub(crate) async fn step_after(
        &self,
        activities: u64,
        instance: Instance,
        stimulus: Stimulus,
    ) -> Result<Transition, RuntimeError> {
        self.compute(move |stepper| stepper.step_after(activities, instance, stimulus))
            .await
    }

    /// Runs steps where scripts may run: here if there are none, else in their turn.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::StepTooLong`] if they took too long: what they made says nothing. [`RuntimeError::Paused`] if a
    /// pause has begun meanwhile, and [`RuntimeError::InProgress`] if the instance is being cancelled.
    /// [`RuntimeError::Compute`] if too many wait for their turn.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stepper) -> T + Send + 'static,
    ) -> Result<T, RuntimeError> {
        let stepper = self.stepper();
        let runtime = self.runtime;
        let Some(port) = runtime.ports().compute.as_ref() else {
            return Ok(work(&stepper));
        };
        if !self.runnable.runs_scripts {
            return Ok(work(&stepper));
        }
        Box::pin(self.compute_in_turn(port, stepper, work)).await
    }

    async fn compute_in_turn<T: Send + 'static>(
        &self,
        port: &Arc<dyn Compute>,
        stepper: Stepper,
        work: impl FnOnce(&Stepper) -> T + Send + 'static,
    ) -> Result<T, RuntimeError> {
        let runtime = self.runtime;
        let definition = self.runnable.graph.definition_id.as_str();
        let share = Share::new(self.tenant.as_str(), definition);
        let most = Duration::from_millis(runtime.config().step_ms_max);
        let id = self.loaded.as_ref().map(|loaded| loaded.instance_id());
        let key = (self.tenant.clone(), id.map(str::to_owned));
        let mut queued = runtime.running().queue(key.clone());
        let work = async move {
            // Its time begins with its turn.
            let running = stepper.runtime.running().begin(key, most);
            if stepper.runtime.pauses().is_paused() {
                running.cut.cut();
            }
            let made = running.cut.during(|| work(&stepper));
            (made, running.cut.is_cut(), running.cut.was_called())
        };
        let computed = pin!(compute(Some(port), share, work));
        let was_called = match select(computed, &mut queued.unwanted).await {
            Either::Left((computed, _)) => match computed? {
                (made, false, _) => return Ok(made),
                (_, true, was_called) => was_called,
            },
            // Perhaps it has not even begun; if so, it never does.
            Either::Right(_) => true,
        };
        runtime.pauses().refuse_while_paused()?;
        Err(if was_called {
            RuntimeError::InProgress {
                instance_id: id.unwrap_or_default().to_owned(),
                until_ms: runtime.now().0,
            }
        } else {
            RuntimeError::StepTooLong {
                ms: runtime.config().step_ms_max,
            }
        })
    }
}

impl RuntimeError {
    /// The stimulus that makes a failure of a step whose scripts took too long. `Err`: it is another error.
    pub(crate) fn of_a_step(self) -> Result<Stimulus, Self> {
        if !matches!(self, Self::StepTooLong { .. }) {
            return Err(self);
        }
        Ok(Stimulus::Fail {
            kind: "LimitReached".into(),
            message: format!("the workflow was stopped: {self}"),
        })
    }
}
