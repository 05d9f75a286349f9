//! Telling what is wrong with a definition, all of it at once.

use std::sync::Arc;

use dormouse_engine::activity_type::is_type_name;
use dormouse_engine::definition::Definition;
use dormouse_engine::definition::name::type_key;
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
        self.missing_types(tenant, compiled, &mut problems).await?;
        self.taken_name(tenant, compiled, &mut problems).await?;
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

    /// Versions of activity types that are data which are not there, and types that were deleted.
    async fn missing_types(
        self,
        tenant: &Tenant,
        compiled: &Runnable,
        problems: &mut Vec<Problem>,
    ) -> Result<(), RuntimeError> {
        for reference in &compiled.graph.missing {
            let name = reference.type_name.as_str();
            if !is_type_name(name) {
                continue;
            }
            let Some(head) = self.store().own_types().head(tenant, name).await? else {
                continue;
            };
            let message = match reference.version {
                _ if head.value.is_deleted => {
                    format!(
                        "the activity type `{name}` was deleted; publish it again, or use another one"
                    )
                }
                Some(version) => format!(
                    "the activity type `{name}` has no version {version}; its latest one is {}",
                    head.value.version
                ),
                None => continue,
            };
            problems.push(Problem {
                path: "root".into(),
                code: "unknownActivityVersion",
                message,
                is_error: true,
            });
        }
        Ok(())
    }

    /// A workflow that is used as an activity under the name of an activity type that is data.
    async fn taken_name(
        self,
        tenant: &Tenant,
        compiled: &Runnable,
        problems: &mut Vec<Problem>,
    ) -> Result<(), RuntimeError> {
        let definition = &compiled.definition;
        let Some(name) = definition.name.as_deref() else {
            return Ok(());
        };
        if !definition.options.usable_as_activity {
            return Ok(());
        }
        let key = type_key(name);
        let all = self.store().own_types().all(tenant).await?;
        let taken = all
            .iter()
            .find(|head| !head.is_deleted && type_key(&head.name) == key);
        problems.extend(taken.map(|head| Problem {
            path: "name".into(),
            code: "activityTypeTaken",
            message: format!(
                "the workflow would be the activity `{}`, which is an activity type already; give it another name",
                head.name
            ),
            is_error: true,
        }));
        Ok(())
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
