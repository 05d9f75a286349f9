//! Changing definitions: save a draft, publish, retract, delete. Each names the revision it saw; if somebody was
//! quicker it gets a conflict with what is there now.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::definition::Definitions;
use crate::definition::head::{
    DefinitionHead, OwnedRows, VersionInfo, digest, version_attributes, version_key,
};
use crate::definition::route::Route;
use crate::definition::rows::{Current, DefinitionChange};
use crate::definition::trigger::NewTrigger;
use crate::item::error::StoreError;
use crate::item::tenant::Tenant;
use crate::table::{Change, Condition, Value, Write, Written};

/// A version to save.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The definition's id.
    pub definition_id: String,
    /// Number, name and the like. A version that was published or used cannot be saved again with another body.
    pub info: VersionInfo,
    /// The definition as it is to be given back.
    pub body: Bytes,
    /// The definitions that it uses as activities.
    pub uses: BTreeSet<String>,
    /// The revision of the head that the editor saw; 0: there was no definition.
    pub expected_revision: u64,
}

/// A version to publish.
#[derive(Debug, Clone, Default)]
pub struct Publication {
    /// The version; it is saved with it.
    pub draft: Draft,
    /// The activity type name under which other definitions find it, if it may be used as an activity.
    pub type_name: Option<String>,
    /// What starts it.
    pub triggers: Vec<NewTrigger>,
    /// The routes with parameters that it answers.
    pub routes: Vec<Route>,
}

/// What became of a change of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saved {
    /// It happened.
    Done(DefinitionHead),
    /// Somebody was quicker: this is there now. Nothing happened.
    Conflict(Option<DefinitionHead>),
    /// The version was published or used before with another body. Save it under this number. Nothing happened.
    VersionTaken {
        /// The first number that is free.
        next: u32,
    },
}

impl Definitions<'_> {
    /// Saves a version without publishing it. One query and one atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn save_draft(self, tenant: &Tenant, draft: &Draft) -> Result<Saved, StoreError> {
        let current = self.current(tenant, &draft.definition_id).await?;
        if let Some(conflict) = current.conflict(draft.expected_revision) {
            return Ok(conflict);
        }
        let mut change = self.saving(tenant, current, draft, false)?;
        change.rows.uses.clone_from(&draft.uses);
        self.change_definition(tenant, change).await
    }

    /// Publishes a version: its body, the head with the next generation, its triggers and routes in place of those
    /// before. One query and one atomic write; where a definition has too many triggers for one, those of the new
    /// generation are put before the head changes and the old ones deleted after it: [`crate::definition::trigger::TriggerRow::is_of`]
    /// tells them apart.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn publish(
        self,
        tenant: &Tenant,
        publication: &Publication,
    ) -> Result<Saved, StoreError> {
        let draft = &publication.draft;
        let current = self.current(tenant, &draft.definition_id).await?;
        if let Some(conflict) = current.conflict(draft.expected_revision) {
            return Ok(conflict);
        }
        let mut change = self.saving(tenant, current, draft, true)?;
        change.head.published = Some(draft.info.clone());
        change.head.generation = change.current.next_generation();
        let triggers = publication.triggers.iter();
        change.rows = OwnedRows {
            generation: change.head.generation,
            triggers: triggers
                .map(|t| (t.hash.clone(), t.activity_id.clone()))
                .collect(),
            routes: publication
                .routes
                .iter()
                .map(|r| (r.template.clone(), r.method.clone()))
                .collect(),
            uses: draft.uses.clone(),
            type_name: publication.type_name.clone(),
        };
        // An activity that waits for the same stimulus twice is one trigger.
        let mut once = BTreeSet::new();
        let triggers = publication
            .triggers
            .iter()
            .filter(|t| once.insert((&t.hash, &t.activity_id)));
        change.triggers = triggers.cloned().collect();
        self.change_definition(tenant, change).await
    }

    /// Takes the published version out of force, with its triggers and routes. Instances go on. A definition that
    /// is not published stays as it is. One query and one atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn retract(
        self,
        tenant: &Tenant,
        definition_id: &str,
        expected_revision: u64,
    ) -> Result<Saved, StoreError> {
        let current = self.current(tenant, definition_id).await?;
        if let Some(conflict) = current.conflict(expected_revision) {
            return Ok(conflict);
        }
        let Some(head) = current.head.clone() else {
            return Ok(Saved::Conflict(None));
        };
        if head.published.is_none() {
            return Ok(Saved::Done(head));
        }
        let mut change = DefinitionChange::of(current, head);
        change.retract();
        self.change_definition(tenant, change).await
    }

    /// Deletes a version: one that was published or used is only hidden, because an instance may name it. The
    /// published version is retracted with it; without any version left, the definition is deleted.
    /// `None`: there was none.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_version(
        self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
        expected_revision: u64,
    ) -> Result<Option<Saved>, StoreError> {
        loop {
            let current = self.current(tenant, definition_id).await?;
            if let Some(conflict) = current.conflict(expected_revision) {
                return Ok(Some(conflict));
            }
            let versions = self.list_versions(tenant, definition_id).await?;
            let (Some(mut head), Some(gone)) = (
                current.head.clone(),
                versions.iter().find(|v| v.info.version == version),
            ) else {
                return Ok(None);
            };
            let Some(latest) = versions.iter().rfind(|v| v.info.version != version) else {
                self.delete(tenant, definition_id).await?;
                return Ok(Some(Saved::Done(head)));
            };
            let key = version_key(tenant, definition_id, version)?;
            let write = if gone.was_published || gone.used {
                Write::Update(
                    key,
                    vec![Change::Set("hi".into(), Value::N(1))],
                    Condition::Exists,
                )
            } else {
                Write::Delete(key, unnamed())
            };
            head.latest = latest.info.clone();
            let mut change = DefinitionChange::of(current, head);
            if change
                .head
                .published
                .as_ref()
                .is_some_and(|info| info.version == version)
            {
                change.retract();
            }
            change.version = Some(write);
            match self.change_definition(tenant, change).await? {
                // An instance was started with it meanwhile, so now it is one that is hidden.
                Saved::VersionTaken { .. } => {}
                saved @ (Saved::Done(_) | Saved::Conflict(_)) => return Ok(Some(saved)),
            }
        }
    }

    /// Says that an instance is about to name a version that was never published, so that it cannot change under
    /// it. To be done before the instance is created. False: there is no such version. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn mark_version_used(
        self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<bool, StoreError> {
        let key = version_key(tenant, definition_id, version)?;
        let used = vec![Change::Set("us".into(), Value::N(1))];
        let written = self
            .table()
            .write(&[Write::Update(key, used, Condition::Exists)])
            .await?;
        Ok(written == Written::Done)
    }

    /// The change that a saved version makes.
    fn saving(
        self,
        tenant: &Tenant,
        current: Current,
        draft: &Draft,
        publish: bool,
    ) -> Result<DefinitionChange, StoreError> {
        let (id, info) = (&draft.definition_id, &draft.info);
        let attributes = version_attributes(info, &draft.body, publish)?;
        let digest = digest(&draft.body);
        let same = Condition::Equals("dg".into(), Value::B(digest.clone()));
        let changes = attributes
            .into_iter()
            .map(|(name, value)| Change::Set(name, value));
        let key = version_key(tenant, id, info.version)?;
        let may_change = Condition::Any(vec![Condition::Absent, unnamed(), same]);
        let version = Write::Update(key, changes.collect(), may_change);

        let old = current.head.as_ref();
        let is_latest = old.is_none_or(|head| head.latest.version <= info.version);
        let head = DefinitionHead {
            definition_id: id.clone(),
            revision: current.revision + 1,
            generation: current.generation,
            latest: old
                .filter(|_| !is_latest)
                .map_or_else(|| info.clone(), |head| head.latest.clone()),
            published: old.and_then(|head| head.published.clone()),
        };
        let replaced = old.filter(|head| head.latest.version == info.version);
        let old_id = replaced
            .map(|head| head.latest.version_id.clone())
            .filter(|id| *id != info.version_id);
        let mut change = DefinitionChange::of(current, head);
        change.version = Some(version);
        change.version_id = Some((info.version_id.clone(), info.version));
        change.old_version_id = old_id;
        change.digest = digest;
        Ok(change)
    }
}

/// Whether no instance can name the version.
pub(crate) fn unnamed() -> Condition {
    Condition::All(vec![
        Condition::Lacks("pb".into()),
        Condition::Lacks("us".into()),
    ])
}
