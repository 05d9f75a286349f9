//! Moving the workflows that use another one as an activity to its published version.

use dormouse_store::Tenant;
use dormouse_store::definition::head::DefinitionHead;
use futures_util::future::BoxFuture;

use crate::definitions::Definitions;
use crate::definitions::draft::Saving;
use crate::definitions::publish::PublishOutcome;
use crate::definitions::references::{Target, redirect};
use crate::definitions::save::SaveOutcome;
use crate::error::RuntimeError;
use crate::loading::load::read_definition;
use crate::work::delivered::Delivered;
use crate::work::message::Published;

impl<'k> Definitions<'k> {
    /// Moves the definitions that use this one as an activity to its published version, and tells which. Published
    /// ones are published again, drafts are changed in place.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. The same call again does what is missing.
    pub async fn update_references(
        self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<Vec<String>, RuntimeError> {
        let Some(head) = self
            .store()
            .definitions()
            .definition_head(tenant, definition_id)
            .await?
        else {
            return Ok(Vec::new());
        };
        let Some(published) = &head.published else {
            return Ok(Vec::new());
        };
        let versions = self
            .store()
            .definitions()
            .list_versions(tenant, definition_id)
            .await?;
        let version_ids: Vec<_> = versions.into_iter().map(|v| v.info.version_id).collect();
        let target = Target {
            definition_id,
            name: &published.name,
            version: published.version,
            version_id: &published.version_id,
            version_ids: &version_ids,
        };
        let mut updated = Vec::new();
        for consumer in self
            .store()
            .definitions()
            .list_consumers(tenant, definition_id)
            .await?
        {
            if self.update_consumer(tenant, &consumer, &target).await? {
                updated.push(consumer);
            }
        }
        Ok(updated)
    }

    /// The same, where publishing leads to more publishing.
    pub(crate) fn update_references_boxed<'a>(
        self,
        tenant: &'a Tenant,
        definition_id: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, RuntimeError>>
    where
        'k: 'a,
    {
        Box::pin(self.update_references(tenant, definition_id))
    }

    /// What an interrupted publish left to do.
    pub(crate) async fn update_consumers(
        self,
        tenant: &Tenant,
        published: &Published,
    ) -> Result<Delivered, RuntimeError> {
        let definition_id = &published.definition_id;
        let head = self
            .store()
            .definitions()
            .definition_head(tenant, definition_id)
            .await?;
        if head.is_some_and(|head| head.revision < published.revision) {
            return Ok(self.not_published_yet(published.at));
        }
        self.update_references_boxed(tenant, definition_id).await?;
        Ok(Delivered::Done)
    }

    /// Moves one consumer. False: it uses the version already, or cannot be changed.
    async fn update_consumer(
        self,
        tenant: &Tenant,
        consumer: &str,
        target: &Target<'_>,
    ) -> Result<bool, RuntimeError> {
        let Some(head) = self
            .store()
            .definitions()
            .definition_head(tenant, consumer)
            .await?
        else {
            return Ok(false);
        };
        let latest = head.latest.version;
        let stored = self
            .store()
            .definitions()
            .definition_version(tenant, consumer, latest)
            .await?;
        let Some(stored) = stored else {
            return Ok(false);
        };
        let definition = read_definition(&stored)?;
        let is_published = is_latest_published(&head);
        match redirect(&definition, target)? {
            Some(moved) => {
                let saved = self.save_draft(tenant, moved, Saving::default()).await?;
                if matches!(saved, SaveOutcome::ReadOnly) {
                    return Ok(false);
                }
            }
            // It says nothing of the version, so it uses whichever it finds when it is published.
            None if !is_published || self.uses(&head, target)? => return Ok(false),
            None => {}
        }
        if is_published {
            let published = self.publish_latest(tenant, consumer, true).await?;
            if let PublishOutcome::Invalid(problems) = published {
                tracing::warn!(
                    consumer,
                    problems = problems.len(),
                    "a workflow that uses the published one has errors; its published version stays as it was"
                );
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the published version of a consumer uses the target's version.
    fn uses(self, head: &DefinitionHead, target: &Target<'_>) -> Result<bool, RuntimeError> {
        let Some(info) = &head.published else {
            return Ok(false);
        };
        let bindings = crate::graph::version_extra::VersionExtra::read(info)?.bindings;
        let wanted = (target.definition_id.to_owned(), target.version);
        Ok(bindings.versions().contains(&wanted))
    }
}

fn is_latest_published(head: &DefinitionHead) -> bool {
    head.published
        .as_ref()
        .is_some_and(|info| info.version == head.latest.version)
}
