//! Reading definitions.

use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::definition::head::{DefinitionHead, VersionInfo};

use crate::definitions::draft::view_stored;
use crate::definitions::view::{DefinitionSummary, DefinitionView};
use crate::error::RuntimeError;
use crate::graph::version_extra::VersionExtra;
use crate::query::Query;
use crate::work::definition_handle::{DefinitionHandle, VersionOptions};

impl Query<'_> {
    /// A version of a definition.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn definition(
        self,
        tenant: &Tenant,
        handle: &DefinitionHandle,
    ) -> Result<Option<DefinitionView>, RuntimeError> {
        let (definition_id, wanted) = match handle {
            DefinitionHandle::Definition { id, version } => (id.clone(), *version),
            DefinitionHandle::Version { id } => {
                match self.store().definitions().find_version(tenant, id).await? {
                    Some((definition_id, n)) => (definition_id, VersionOptions::Number(n)),
                    None => return Ok(None),
                }
            }
        };
        let Some(head) = self
            .store()
            .definitions()
            .definition_head(tenant, &definition_id)
            .await?
        else {
            return Ok(None);
        };
        let Some(version) = wanted.pick(&head) else {
            return Ok(None);
        };
        let stored = self
            .store()
            .definitions()
            .definition_version(tenant, &definition_id, version)
            .await?;
        stored
            .filter(|stored| !stored.hidden)
            .map(|stored| view_stored(&stored, &head))
            .transpose()
    }

    /// The definitions of a tenant, by id. [`VersionOptions::AllVersions`] shows the latest and the published ones
    /// here. From an index that may lag behind by seconds.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn definitions(
        self,
        tenant: &Tenant,
        version: VersionOptions,
    ) -> Result<Vec<DefinitionSummary>, RuntimeError> {
        let mut found = Vec::new();
        for head in self.store().definitions().list_definitions(tenant).await? {
            let (published, latest) = (&head.published, &head.latest);
            let both = matches!(
                version,
                VersionOptions::LatestAndPublished | VersionOptions::AllVersions
            );
            let picked = version.pick(&head);
            for info in [Some(latest), published.as_ref()].into_iter().flatten() {
                let is_second = info.version != latest.version;
                if Some(info.version) == picked || (both && is_second) {
                    found.push(summary(&head, info)?);
                    if !both {
                        break;
                    }
                }
                if published
                    .as_ref()
                    .is_some_and(|p| p.version == latest.version)
                {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// The versions of a definition, newest first. Empty: there is none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn definition_versions(
        self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Vec<DefinitionView>, RuntimeError> {
        let Some(head) = self
            .store()
            .definitions()
            .definition_head(tenant, definition_id)
            .await?
        else {
            return Ok(Vec::new());
        };
        let mut versions = self
            .store()
            .definitions()
            .list_versions(tenant, definition_id)
            .await?;
        versions.reverse();
        versions
            .iter()
            .map(|stored| view_stored(stored, &head))
            .collect()
    }

    /// The definitions that use this one as an activity, directly or through others. `None`: there is no such
    /// definition.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn consumers(
        self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Option<Vec<String>>, RuntimeError> {
        let head = self
            .store()
            .definitions()
            .definition_head(tenant, definition_id)
            .await?;
        if head.is_none() {
            return Ok(None);
        }
        let mut found = Vec::new();
        let mut ahead = vec![definition_id.to_owned()];
        while let Some(next) = ahead.pop() {
            for consumer in self
                .store()
                .definitions()
                .list_consumers(tenant, &next)
                .await?
            {
                if consumer != definition_id && !found.contains(&consumer) {
                    found.push(consumer.clone());
                    ahead.push(consumer);
                }
            }
        }
        Ok(Some(found))
    }
}

fn summary(head: &DefinitionHead, info: &VersionInfo) -> Result<DefinitionSummary, RuntimeError> {
    let extra = VersionExtra::read(info)?;
    let text = |text: &String| (!text.is_empty()).then(|| text.clone());
    Ok(DefinitionSummary {
        definition_id: head.definition_id.clone(),
        version_id: info.version_id.clone(),
        version: info.version,
        name: text(&info.name),
        description: text(&info.description),
        tool_version: extra.tool_version,
        is_latest: head.latest.version == info.version,
        is_published: head
            .published
            .as_ref()
            .is_some_and(|published| published.version == info.version),
        is_readonly: extra.is_readonly,
        is_system: extra.is_system,
        usable_as_activity: extra.usable_as_activity,
        created_at: Timestamp(info.created_ms),
    })
}
