//! Rehearsing a definition: what its activities would do, without an instance, an effect or a call.

use std::sync::Arc;

use dormouse_engine::definition::Definition;
use dormouse_engine::instance::{Instance, Start};
use dormouse_engine::journal;
use dormouse_engine::step::{Environment, Limits, SecretReferences, Settings, Stimulus, step};
use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::graph::bindings::Bindings;
use crate::loading::resolve::Resolve;
use crate::query::{ActivityExecution, Query};

/// How many activities a rehearsal runs at most.
const ACTIVITIES_MAX: u32 = 100;

impl Query<'_> {
    /// Runs a definition from its beginning until it waits, calls somebody, ends, or has run a hundred activities.
    /// Nothing is stored and nothing leaves: what it would send is dropped.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn rehearse(
        self,
        tenant: &Tenant,
        definition: Definition,
    ) -> Result<Vec<ActivityExecution>, RuntimeError> {
        let compiled = self
            .graphs()
            .compile(
                tenant,
                Arc::new(definition),
                Bindings::default(),
                Resolve::AndForget,
            )
            .await?;
        let graph = &compiled.graph;
        let id = format!("rehearsal-{}", self.new_id());
        let seed = self.ports().clock.random();
        let start = Start::default();
        let instance = Instance::new(graph, id.as_str().into(), start, self.now(), seed);
        let settings = self.settings_of(tenant);
        let secrets = self.secret_references(tenant);
        let environment = Environment {
            settings: settings.as_ref().map(|s| s as &dyn Settings),
            secrets: secrets.as_ref().map(|s| s as &dyn SecretReferences),
            limits: Limits {
                step_activities_max: ACTIVITIES_MAX,
                ..self.config().limits
            },
            ..self.environment()
        };
        let done = step(graph, instance, Stimulus::Start, &environment);
        let unreadable = |source| RuntimeError::Instance {
            instance_id: id.clone(),
            source,
        };
        let block = journal::encode(&done.journal, graph);
        let lines = journal::decode(&block).map_err(unreadable)?;
        let mut executions = ActivityExecution::fold(&id, &lines);
        for execution in &mut executions {
            execution.add_literals(graph);
        }
        Ok(executions)
    }
}
