//! Changing definitions: save a draft, publish, retract, delete. Each names the revision it saw; if somebody was
//! quicker it gets a conflict with what is there now.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::definition::{DefinitionHead, VersionInfo};
use crate::error::StoreError;
use crate::route::Route;
use crate::store::Store;
use crate::tenant::Tenant;
use crate::trigger::NewTrigger;

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

impl Store {
    /// Saves a version without publishing it. One query and one atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn save_draft(&self, tenant: &Tenant, draft: &Draft) -> Result<Saved, StoreError> {
        let _ = (tenant, draft);
        todo!()
    }

    /// Publishes a version: its body, the head with the next generation, its triggers and routes in place of those
    /// before. One query and one atomic write; where a definition has too many triggers for one, those of the new
    /// generation are put before the head changes and the old ones deleted after it: [`crate::trigger::TriggerRow::is_of`]
    /// tells them apart.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn publish(
        &self,
        tenant: &Tenant,
        publication: &Publication,
    ) -> Result<Saved, StoreError> {
        let _ = (tenant, publication);
        todo!()
    }

    /// Takes the published version out of force, with its triggers and routes. Instances go on. A definition that
    /// is not published stays as it is. One query and one atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn retract(
        &self,
        tenant: &Tenant,
        definition_id: &str,
        expected_revision: u64,
    ) -> Result<Saved, StoreError> {
        let _ = (tenant, definition_id, expected_revision);
        todo!()
    }

    /// Deletes a definition with its triggers and routes. Versions that an instance may name stay readable by
    /// their number, and their numbers are not given out again. False: there was none.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_definition(
        &self,
        tenant: &Tenant,
        definition_id: &str,
    ) -> Result<bool, StoreError> {
        let _ = (tenant, definition_id);
        todo!()
    }

    /// Deletes a version: one that was published or used is only hidden, because an instance may name it. The
    /// published version is retracted with it; without any version left, the definition is deleted.
    /// `None`: there was none.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete_version(
        &self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
        expected_revision: u64,
    ) -> Result<Option<Saved>, StoreError> {
        let _ = (tenant, definition_id, version, expected_revision);
        todo!()
    }

    /// Says that an instance is about to name a version that was never published, so that it cannot change under
    /// it. To be done before the instance is created. False: there is no such version. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn mark_version_used(
        &self,
        tenant: &Tenant,
        definition_id: &str,
        version: u32,
    ) -> Result<bool, StoreError> {
        let _ = (tenant, definition_id, version);
        todo!()
    }
}
