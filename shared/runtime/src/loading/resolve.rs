//! Finding the workflow that another one uses as an activity.

use std::sync::Arc;

use dormouse_engine::definition::Definition;
use dormouse_engine::definition::name::type_key;
use dormouse_engine::graph::Reference;
use dormouse_store::Tenant;

use crate::error::RuntimeError;
use crate::graph::bindings::VersionKey;
use crate::loading::Graphs;
use crate::loading::load::read_definition;

/// What to do about references that are not bound yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resolve {
    /// Leave them: the instance is pinned.
    Nothing,
    /// Look them up, for a look only.
    AndForget,
    /// Look them up, for somebody who will name them: a version that was never published must not change then.
    AndPin,
}

impl Graphs<'_> {
    /// Finds a workflow as Elsa does: the version's id; then the definition by its id, or by the type's name, with
    /// the recorded version, the published one, the latest one.
    pub(crate) async fn resolve(
        self,
        tenant: &Tenant,
        reference: &Reference,
        resolve: Resolve,
    ) -> Result<Option<(VersionKey, Arc<Definition>)>, RuntimeError> {
        if let Some(version_id) = reference.version_id.as_deref().filter(|id| !id.is_empty())
            && let Some((id, version)) = self
                .store()
                .definitions()
                .find_version(tenant, version_id)
                .await?
            && let Some(found) = self.version_for(tenant, id, version, resolve).await?
        {
            return Ok(Some(found));
        }
        if let Some(id) = reference
            .definition_id
            .as_deref()
            .filter(|id| !id.is_empty())
            && let Some(found) = self
                .version_of(tenant, id, reference.version, resolve)
                .await?
        {
            return Ok(Some(found));
        }
        let type_name = type_key(&reference.type_name);
        if type_name.is_empty() {
            return Ok(None);
        }
        for id in self
            .store()
            .definitions()
            .find_by_type_name(tenant, &type_name)
            .await?
        {
            if let Some(found) = self
                .version_of(tenant, &id, reference.version, resolve)
                .await?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The recorded version of a definition, or its published one, or its latest one.
    async fn version_of(
        self,
        tenant: &Tenant,
        definition_id: &str,
        recorded: Option<u32>,
        resolve: Resolve,
    ) -> Result<Option<(VersionKey, Arc<Definition>)>, RuntimeError> {
        let Some(head) = self
            .store()
            .definitions()
            .definition_head(tenant, definition_id)
            .await?
        else {
            return Ok(None);
        };
        let published = head.published.as_ref().map(|info| info.version);
        for version in [recorded, published, Some(head.latest.version)]
            .into_iter()
            .flatten()
        {
            let id = definition_id.to_owned();
            if let Some(found) = self.version_for(tenant, id, version, resolve).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A version, if it is there and not deleted.
    pub(crate) async fn version_for(
        self,
        tenant: &Tenant,
        definition_id: String,
        version: u32,
        resolve: Resolve,
    ) -> Result<Option<(VersionKey, Arc<Definition>)>, RuntimeError> {
        let store = self.store();
        let read = || {
            store
                .definitions()
                .definition_version(tenant, &definition_id, version)
        };
        let Some(mut stored) = read().await?.filter(|stored| !stored.hidden) else {
            return Ok(None);
        };
        if resolve == Resolve::AndPin && !stored.was_published && !stored.used {
            store
                .definitions()
                .mark_version_used(tenant, &definition_id, version)
                .await?;
            // It may have changed until it was marked.
            match read().await? {
                Some(marked) => stored = marked,
                None => return Ok(None),
            }
        }
        let definition = Arc::new(read_definition(&stored)?);
        Ok(Some(((definition_id, version), definition)))
    }
}
