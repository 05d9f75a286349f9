//! Writing a version of a definition: what becomes of its ids, its number and its body, and what the store is told.

use std::sync::Arc;

use bytes::Bytes;
use dormouse_engine::definition::Definition;
use dormouse_engine::time::Timestamp;
use dormouse_store::definition::head::{DefinitionHead, DefinitionVersion, VersionInfo};
use dormouse_store::definition::publish::{Draft, Saved};
use dormouse_store::{StoreError, Tenant};

use crate::definitions::Definitions;
use crate::definitions::edit::Edit;
use crate::definitions::save::SaveOutcome;
use crate::definitions::view::DefinitionView;
use crate::error::RuntimeError;
use crate::graph::bindings::Bindings;
use crate::graph::version_extra::VersionExtra;
use crate::loading::load::read_definition;
use crate::loading::resolve::Resolve;
use crate::port::DefinitionChanged;

/// How often a change is tried while others change the same definition.
pub(crate) const ATTEMPTS_MAX: u32 = 8;

/// How a definition is saved.
#[derive(Debug, Default)]
pub(crate) struct Saving {
    /// An unknown one keeps the version id that it has.
    pub(crate) keeps_id: bool,
    /// It becomes a version of its own, also where the latest one is a draft.
    pub(crate) spares_draft: bool,
    pub(crate) edit: Edit,
}

/// The version as it is given back, with its flags as they are now.
pub(crate) fn view(
    mut definition: Definition,
    info: &VersionInfo,
    head: &DefinitionHead,
) -> DefinitionView {
    let is_latest = head.latest.version == info.version;
    let is_published = head
        .published
        .as_ref()
        .is_some_and(|published| published.version == info.version);
    definition.identify(&head.definition_id, &info.version_id, info.version);
    definition.mark(is_latest, is_published);
    DefinitionView {
        definition,
        definition_id: head.definition_id.clone(),
        version_id: info.version_id.clone(),
        version: info.version,
        is_latest,
        is_published,
        created_at: Timestamp(info.created_ms),
    }
}

/// The same of a stored version.
pub(crate) fn view_stored(
    stored: &DefinitionVersion,
    head: &DefinitionHead,
) -> Result<DefinitionView, RuntimeError> {
    Ok(view(read_definition(stored)?, &stored.info, head))
}

/// A definition as bytes. Its flags are left out of it, as they change while the version does not.
fn body(definition: &Definition) -> Result<Bytes, RuntimeError> {
    let mut definition = definition.clone();
    definition.mark(false, false);
    serde_json::to_vec(definition.raw())
        .map(Bytes::from)
        .map_err(RuntimeError::format("definition"))
}

impl Definitions<'_> {
    /// Saves a definition as a draft.
    pub(crate) async fn save_draft(
        self,
        tenant: &Tenant,
        mut definition: Definition,
        Saving {
            keeps_id,
            spares_draft,
            edit,
        }: Saving,
    ) -> Result<SaveOutcome, RuntimeError> {
        let given = definition.definition_id.clone();
        let id = given
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| self.new_id());
        let mut given_version_id = definition
            .version_id
            .clone()
            .filter(|id| keeps_id && !id.is_empty());
        let mut taken = None;
        for _ in 0..ATTEMPTS_MAX {
            let head = self
                .store()
                .definitions()
                .definition_head(tenant, &id)
                .await?;
            if let Some(head) = &head
                && VersionExtra::read(&head.latest)?.is_readonly
            {
                return Ok(SaveOutcome::ReadOnly);
            }
            if let Some(head) = &head
                && let Some(stale) = self.stale_edit(tenant, head, &definition, &edit).await?
            {
                return Ok(SaveOutcome::Stale(stale));
            }
            if spares_draft && taken.is_none() {
                taken = head.as_ref().map(|head| head.latest.version + 1);
            }
            let info = self.place(head.as_ref(), taken, given_version_id.clone());
            definition.identify(&id, &info.version_id, info.version);
            let draft = self
                .draft(tenant, &definition, info, head.as_ref(), &edit)
                .await?;
            match self.store().definitions().save_draft(tenant, &draft).await {
                Ok(Saved::Done(now)) => {
                    self.changed(tenant, &id).await;
                    return Ok(SaveOutcome::Saved {
                        definition: Box::new(view(definition, &draft.info, &now)),
                        is_new: head.is_none(),
                    });
                }
                Ok(Saved::Conflict(_)) => {}
                Ok(Saved::VersionTaken { next }) => taken = Some(next),
                // Another definition has the version id that the file gives.
                Err(StoreError::BadId { what, .. })
                    if what.contains("version id") && given_version_id.is_some() =>
                {
                    given_version_id = None;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(RuntimeError::DefinitionContended { definition_id: id })
    }

    /// The number, the id and the time of the version to save: the latest one if it was never published, else a new
    /// one.
    fn place(
        self,
        head: Option<&DefinitionHead>,
        taken: Option<u32>,
        given_version_id: Option<String>,
    ) -> VersionInfo {
        let new = |version, version_id: Option<String>| VersionInfo {
            version,
            version_id: version_id.unwrap_or_else(|| self.new_id()),
            created_ms: self.now().0,
            ..VersionInfo::default()
        };
        match (head, taken) {
            (_, Some(version)) => new(version, None),
            (None, None) => new(1, given_version_id),
            (Some(head), None) => {
                let latest = &head.latest;
                let is_published = head
                    .published
                    .as_ref()
                    .is_some_and(|published| published.version == latest.version);
                if is_published {
                    new(latest.version + 1, None)
                } else {
                    VersionInfo {
                        version: latest.version,
                        version_id: latest.version_id.clone(),
                        created_ms: latest.created_ms,
                        ..VersionInfo::default()
                    }
                }
            }
        }
    }

    /// The draft of a definition that has its place.
    async fn draft(
        self,
        tenant: &Tenant,
        definition: &Definition,
        place: VersionInfo,
        head: Option<&DefinitionHead>,
        edit: &Edit,
    ) -> Result<Draft, RuntimeError> {
        let shared = Arc::new(definition.clone());
        let compiled = self
            .graphs()
            .compile(tenant, shared, Bindings::default(), Resolve::AndForget)
            .await?;
        let extra = VersionExtra {
            saved_by: edit.by.clone(),
            ..VersionExtra::of(definition)
        };
        let info = VersionInfo {
            name: definition.name.clone().unwrap_or_default(),
            description: definition.description.clone().unwrap_or_default(),
            extra: extra.encode()?,
            ..place
        };
        Ok(Draft {
            definition_id: definition.definition_id.clone().unwrap_or_default(),
            info,
            body: body(definition)?,
            uses: compiled.bindings.definitions(),
            expected_revision: head.map_or(0, |head| head.revision),
        })
    }

    /// Tells every node that a definition has changed.
    pub(crate) async fn changed(self, tenant: &Tenant, definition_id: &str) {
        self.cache().forget(tenant, definition_id);
        let Some(broadcast) = &self.ports().broadcast else {
            return;
        };
        let changed = DefinitionChanged {
            tenant: tenant.to_string(),
            definition_id: definition_id.to_owned(),
        };
        if let Err(cause) = broadcast.publish(&changed).await {
            tracing::warn!(definition_id, cause = %cause, "the broadcast failed; starts check the version themselves");
        }
    }
}
