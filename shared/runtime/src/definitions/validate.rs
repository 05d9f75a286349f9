//! Telling what is wrong with a definition, all of it at once.

use std::sync::Arc;

use dormouse_engine::definition::Definition;
use dormouse_engine::graph::Problem;
use dormouse_engine::validate::validate;
use dormouse_store::Tenant;

use crate::definitions::Definitions;
use crate::error::RuntimeError;
use crate::graph::bindings::Bindings;
use crate::graph::cache::Runnable;
use crate::graph::http_route::path_and_method;
use crate::loading::resolve::Resolve;

impl Definitions<'_> {
    /// Everything that is wrong with a definition, what others have taken already included.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn validate(
        self,
        tenant: &Tenant,
        definition: &Definition,
    ) -> Result<Vec<Problem>, RuntimeError> {
        let shared = Arc::new(definition.clone());
        let compiled = self
            .graphs()
            .compile(tenant, shared, Bindings::default(), Resolve::AndForget)
            .await?;
        self.problems(tenant, &compiled).await
    }

    /// What is wrong with a compiled definition.
    pub(crate) async fn problems(
        self,
        tenant: &Tenant,
        compiled: &Runnable,
    ) -> Result<Vec<Problem>, RuntimeError> {
        let mut problems = validate(&compiled.graph, &self.environment());
        // What cannot listen is among the problems already.
        let triggers = compiled
            .graph
            .triggers(&self.environment())
            .unwrap_or_default();
        for trigger in &triggers {
            let Some((path, method)) = path_and_method(&trigger.name, &trigger.payload) else {
                continue;
            };
            if self.is_taken(tenant, compiled, &trigger.hash).await? {
                let path = format!("/{}", path.trim_start_matches('/'));
                problems.push(Problem {
                    path: format!("activity `{}`", trigger.activity_id),
                    code: "routeTaken",
                    message: format!(
                        "The {path} path and {method} method are already in use by another workflow!"
                    ),
                    is_error: true,
                });
            }
        }
        Ok(problems)
    }

    /// Whether another published definition waits for the same stimulus.
    async fn is_taken(
        self,
        tenant: &Tenant,
        compiled: &Runnable,
        hash: &str,
    ) -> Result<bool, RuntimeError> {
        let rows = self.store().stimuli().triggers(tenant, hash).await?;
        let others = rows
            .iter()
            .filter(|row| row.definition_id != compiled.graph.definition_id);
        for row in others {
            let head = self
                .store()
                .definitions()
                .definition_head(tenant, &row.definition_id)
                .await?;
            if head.is_some_and(|head| row.is_of(&head)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
